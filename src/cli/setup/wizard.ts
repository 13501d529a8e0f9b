// The questions of `switchboard init`.
import { cancel, intro, isCancel, multiselect, note, select } from '@clack/prompts';
import type { Choices, InitFlags, Survey } from './init.ts';

/** Undefined when the user broke off. */
export async function ask(survey: Survey, flags: InitFlags): Promise<Choices | undefined> {
  intro(`acp-switchboard: ${survey.config.mode === undefined ? 'a configuration' : 'more for the configuration'} in ${survey.config.file}`);
  const agents = await multiselect({
    message: 'Which agents?',
    options: survey.offered.map(({ id, name, isInstalled }) => ({
      value: id,
      label: name,
      hint: isInstalled ? 'installed' : 'fetched by npx when first used',
    })),
    initialValues: survey.offered.filter(({ isInstalled }) => isInstalled).map(({ id }) => id),
    required: false,
    maxItems: 12,
  });
  if (isCancel(agents)) return stopped();

  const found = survey.imports(agents);
  const imports =
    found.taken.length === 0
      ? []
      : await multiselect({
          message: 'Take over these agents of your editors?',
          options: found.taken.map(({ name, source, missing }) => ({
            value: name,
            label: name,
            hint: `${source}${missing.length > 0 ? `, off until ${missing.join(', ')} is set` : ''}`,
          })),
          initialValues: found.taken.map(({ name }) => name),
          required: false,
        });
  if (isCancel(imports)) return stopped();

  const policy =
    flags.policy ??
    (survey.hasPolicy
      ? 'none'
      : await select({
          message: 'What may agents do without asking?',
          options: [
            { value: 'standard', label: 'standard', hint: 'work in the project goes through, secrets are refused, the rest is asked' },
            { value: 'careful', label: 'careful', hint: 'everything that changes something is asked' },
            { value: 'readonly', label: 'readonly', hint: 'nothing is changed' },
            { value: 'none', label: 'as without us', hint: 'every question goes to your editor' },
          ],
        }));
  if (isCancel(policy)) return stopped();

  const editors =
    survey.editors.length === 0
      ? []
      : await multiselect({
          message: 'Put the switchboard into these editors?',
          options: survey.editors.map((editor) => ({ value: editor.id, label: editor.title })),
          initialValues: survey.editors.map(({ id }) => id),
          required: false,
        });
  if (isCancel(editors)) return stopped();
  if (survey.editors.length === 0) note('switchboard connect EDITOR puts it into one later', 'No editor was found');

  return {
    agents,
    imports: { taken: found.taken.filter(({ name }) => imports.includes(name)), left: found.left },
    policy: policy === 'none' ? undefined : policy,
    editors: survey.editors.filter(({ id }) => editors.includes(id)),
  };
}

function stopped(): undefined {
  cancel('Nothing was written.');
  return undefined;
}
