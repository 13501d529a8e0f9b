// `switchboard init`: creates a configuration and connects an editor. The wizard asks for the choices; with --yes, they follow from what is
// installed.

import { bundledCatalogue } from '../../app/package-files.ts';
import { PRESETS } from '../../app/read-policy.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { NotAnObject, withProperty } from '../../setup/edit-jsonc.ts';
import { EDITORS, type Editor, placesHere } from '../../setup/editors.ts';
import { type TakenOver, takeOver, withOneEnabled } from '../../setup/import-agents.ts';
import { editorsInUse, installedAgents } from '../../setup/survey.ts';
import { fromCatalogue, hereWithInstalled } from '../agents/catalogue-entry.ts';
import { editorsHere, warningsOf, withTaken } from '../agents/import-agents.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { printData } from '../policy/output.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { planConnection } from './connect.ts';
import { type ChangeFlags, confirmChanges, makeChange, type Planned, printChange, say } from './show-change.ts';
import { freshConfig, openUserConfig, refuseWorse, type UserConfig } from './user-config.ts';

export type InitFlags = ConfigFlags &
  ChangeFlags & { readonly policy?: string; readonly defaultAgent?: string; readonly import?: boolean; readonly connect?: boolean };

/** The user's choices. */
export type Choices = {
  readonly agents: readonly string[];
  readonly imports: TakenOver;
  /** Undefined keeps the present one, or the first listed. */
  readonly defaultAgent: string | undefined;
  readonly policy: string | undefined;
  readonly editors: readonly Editor[];
};

export type Survey = {
  readonly config: UserConfig;
  /** Catalogue ids, including installed agents, without those already configured. */
  readonly offered: readonly { readonly id: string; readonly name: string; readonly isInstalled: boolean }[];
  readonly hasPolicy: boolean;
  readonly editors: readonly Editor[];
  /** What the editors' lists would add to the agents chosen so far. */
  imports(chosen: readonly string[]): TakenOver;
  readonly warnings: readonly string[];
};

export async function initCommand(flags: InitFlags): Promise<number> {
  if (flags.policy !== undefined && flags.policy !== 'none' && !PRESETS.includes(flags.policy))
    throw new CommandFailure(2, `unknown preset "${flags.policy}"`, nearestOf(flags.policy, [...PRESETS, 'none'], 'presets'));
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const isAsked = isTerminal && !flags.json;
  // A dry run changes nothing, so the defaults need no consent.
  if (!flags.yes && !flags.dryRun && !isAsked)
    throw new CommandFailure(2, 'init needs a terminal to ask questions', 'to accept the defaults, run: switchboard init --yes');
  const survey = await lookAround(flags);
  const choices = flags.yes || !isAsked ? defaults(survey, flags) : await (await import('./wizard.ts')).ask(survey, flags);
  if (choices === undefined) return 130;
  const edited = configure(survey, choices);
  const { planned, problems } = await planConnections(choices.editors, flags);
  const file = { file: survey.config, text: edited.text };
  const isShown = await confirmChanges([file, ...planned], flags);
  const change = await makeChange(file, flags);
  const connections = [];
  for (const { editor, name, ...one } of planned) connections.push({ editor, name, ...(await makeChange(one, flags)) });
  const warnings = [...survey.warnings, ...edited.warnings, ...problems];
  if (flags.json) {
    const imported = choices.imports.taken.map(({ name, source }) => ({ name, source }));
    printData(
      { ...change, agents: edited.added, imported, skipped: choices.imports.left, policy: choices.policy ?? null, editors: connections },
      warnings,
    );
    return 0;
  }
  for (const one of [change, ...connections]) printChange(one, isShown);
  for (const one of choices.imports.left) say(leftOut(one));
  for (const text of warnings) notice(text);
  if (!flags.dryRun) say('Next: switchboard doctor');
  return 0;
}

async function lookAround(flags: InitFlags): Promise<Survey> {
  const config = await openUserConfig(flags);
  const catalogue = bundledCatalogue();
  const around = hereWithInstalled();
  const installed = new Set(installedAgents(catalogue, around).map(({ id }) => id));
  const { files, warnings } = flags.import === false ? { files: [], warnings: [] } : await editorsHere();
  return {
    config,
    offered: catalogue.filter(({ id }) => !(id in config.agents)).map(({ id, name }) => ({ id, name, isInstalled: installed.has(id) })),
    hasPolicy: config.hasPolicy,
    editors: flags.connect === false ? [] : editorsInUse(placesHere()),
    imports: (chosen) =>
      takeOver(files, { ...config.agents, ...Object.fromEntries(chosen.map((id) => [id, entryOf(id).entry])) }, catalogue, around),
    warnings,
  };
}

function entryOf(id: string) {
  const agent = bundledCatalogue().find((one) => one.id === id);
  if (!agent) throw new Error(`no agent ${id}`);
  return fromCatalogue(agent, []);
}

function defaults(survey: Survey, flags: InitFlags): Choices {
  const agents = survey.offered.filter(({ isInstalled }) => isInstalled).map(({ id }) => id);
  const policy = flags.policy ?? 'standard';
  const found = survey.imports(agents);
  const absent = found.taken.filter(({ isAbsent }) => isAbsent);
  const imports = {
    taken: withOneEnabled(
      found.taken.filter(({ isAbsent }) => !isAbsent),
      { ...survey.config.agents, ...Object.fromEntries(agents.map((id) => [id, {}])) },
    ),
    left: [...found.left, ...absent.map(({ name, source, entry }) => ({ name, source, why: `command not found: ${entry.command}` }))],
  };
  return {
    agents,
    imports,
    defaultAgent: flags.defaultAgent,
    policy: policy === 'none' || survey.hasPolicy ? undefined : policy,
    editors: survey.editors,
  };
}

/** Adds the choices to the configuration; keeps existing entries. */
const leftOut = ({ name, source, why }: TakenOver['left'][number]): string => `left out: ${name} from ${source}: ${why}`;

function configure({ config }: Survey, { agents, imports, defaultAgent, policy }: Choices) {
  const entries = agents.map((id) => ({ id, ...entryOf(id) }));
  if (entries.length + imports.taken.length + Object.keys(config.agents).length === 0)
    throw new CommandFailure(
      4,
      'no agents found on this machine, and none selected',
      [
        ...imports.left.map(leftOut),
        `to add one, run: switchboard agents add ID --install, where ID is one of ${bundledCatalogue()
          .map(({ id }) => id)
          .join(', ')}`,
      ].join('\n  '),
    );
  const base = config.isNew ? freshConfig(policy) : config.base;
  const withAgents = entries.reduce((text, { id, entry }) => withProperty(text, ['agent_servers', id], entry), base);
  const withImports = withTaken(withAgents, imports.taken);
  const withDefault = defaultAgent === undefined ? withImports : withProperty(withImports, ['default_agent'], defaultAgent);
  const text = policy === undefined || config.isNew ? withDefault : withProperty(withDefault, ['policy'], policy);
  if (text !== config.text) refuseWorse(config, text);
  const warnings = entries.flatMap((one) => one.warnings.map((warning) => `${one.id}: ${warning}`));
  return { text, added: agents, warnings: [...warnings, ...warningsOf(imports)] };
}

/** A broken file of one editor does not prevent connecting the others. */
async function planConnections(editors: readonly Editor[], { config }: InitFlags) {
  const planned: (Planned & { readonly editor: string; readonly name: string })[] = [];
  const problems: string[] = [];
  for (const editor of EDITORS.filter((one) => editors.includes(one)))
    try {
      planned.push({ editor: editor.id, ...(await planConnection(editor, config === undefined ? {} : { config })) });
    } catch (error) {
      if (!(error instanceof CommandFailure || error instanceof NotAnObject)) throw error;
      problems.push(`${editor.title} was not connected: ${error.message}. Fix this, then run: switchboard connect ${editor.id}`);
    }
  return { planned, problems };
}
