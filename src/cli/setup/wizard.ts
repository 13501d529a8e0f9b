// The prompts of `switchboard init`.
import { cancel, intro, isCancel, multiselect, note, select } from '@clack/prompts';
import { fields } from '../../json-object.ts';
import { withOneEnabled } from '../../setup/import-agents.ts';
import type { Choices, InitFlags, Survey } from './init.ts';

/** Undefined if the user cancelled. */
export async function ask(survey: Survey, flags: InitFlags): Promise<Choices | undefined> {
  intro(`acp-switchboard: ${survey.config.mode === undefined ? 'create' : 'extend'} ${survey.config.file}`);
  const agents = await multiselect({
    message: 'Which agents?',
    options: survey.offered.map(({ id, name, isInstalled }) => ({
      value: id,
      label: name,
      hint: isInstalled ? 'installed' : 'npx fetches it on first use',
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
          message: 'Import these agents from your editors?',
          options: found.taken.map(({ name, source, missing, isAbsent, entry }) => ({
            value: name,
            label: isAbsent ? `${name} (command not found: ${entry.command})` : name,
            hint: `${source}${missing.length > 0 ? `, disabled until you set ${missing.join(', ')}` : ''}`,
          })),
          initialValues: found.taken.filter(({ isAbsent }) => !isAbsent).map(({ name }) => name),
          required: false,
        });
  if (isCancel(imports)) return stopped();

  const isEnabled = (entry: unknown): boolean => fields(entry).enabled !== false;
  const imported = withOneEnabled(
    found.taken.filter(({ name }) => imports.includes(name)),
    { ...survey.config.agents, ...Object.fromEntries(agents.map((id) => [id, {}])) },
  );
  const names = [
    ...Object.entries(survey.config.agents).flatMap(([name, entry]) => (isEnabled(entry) ? [name] : [])),
    ...agents,
    ...imported.flatMap(({ name, entry }) => (isEnabled(entry) ? [name] : [])),
  ];
  const isOpen = flags.defaultAgent === undefined && !survey.config.hasDefault && names.length > 1;
  const defaultAgent = isOpen
    ? await select({ message: 'Which agent is the default?', options: names.map((name) => ({ value: name, label: name })) })
    : flags.defaultAgent;
  if (isCancel(defaultAgent)) return stopped();

  const policy =
    flags.policy ??
    (survey.hasPolicy
      ? 'none'
      : await select({
          message: 'What may agents do without asking?',
          options: [
            { value: 'standard', label: 'standard', hint: 'allow work in the project, deny secrets, ask about the rest' },
            { value: 'careful', label: 'careful', hint: 'ask before every change' },
            { value: 'readonly', label: 'readonly', hint: 'deny every change' },
            { value: 'none', label: 'no policy', hint: 'every permission request goes to your editor' },
          ],
        }));
  if (isCancel(policy)) return stopped();

  const editors =
    survey.editors.length === 0
      ? []
      : await multiselect({
          message: 'Connect these editors?',
          options: survey.editors.map((editor) => ({ value: editor.id, label: editor.title })),
          initialValues: survey.editors.map(({ id }) => id),
          required: false,
        });
  if (isCancel(editors)) return stopped();
  if (survey.editors.length === 0) note('Connect an editor later with: switchboard connect EDITOR', 'Found no editor');

  return {
    agents,
    imports: {
      taken: imported,
      left: [
        ...found.left,
        ...found.taken.flatMap(({ name, source }) => (imports.includes(name) ? [] : [{ name, source, why: 'you did not select it' }])),
      ],
    },
    defaultAgent,
    policy: policy === 'none' ? undefined : policy,
    editors: survey.editors.filter(({ id }) => editors.includes(id)),
  };
}

function stopped(): undefined {
  cancel('Nothing was written.');
  return undefined;
}
