// The user's configuration for editing: which file it is, and whether an edit keeps it valid.
import path from 'node:path';
import { packageFile } from '../../app/package-files.ts';
import { check } from '../../config/check.ts';
import { userConfigFile } from '../../config/discover.ts';
import { layerOf } from '../../config/layer.ts';
import { parseDocument } from '../../config/parse.ts';
import { ConfigError, type Problem, renderProblem } from '../../config/problems.ts';
import { validate } from '../../config/validate.ts';
import { fields } from '../../json-object.ts';
import { type EditableFile, readToEdit } from '../../setup/edit-file.ts';
import { newConfig } from '../../setup/new-config.ts';
import { CommandFailure } from '../failure.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';

export type UserConfig = EditableFile & {
  /** The text to edit: the file's, or that of a new file. */
  readonly base: string;
  /** The agents as written. */
  readonly agents: Readonly<Record<string, unknown>>;
  readonly hasPolicy: boolean;
  readonly hasDefault: boolean;
  readonly isNew: boolean;
  /** `registry.url`: only the user's own file chooses where programs come from. */
  readonly registryUrl: string | undefined;
};

/** The initial content of a new file. */
export const freshConfig = (policy?: string): string => newConfig(packageFile('config', 'switchboard.schema.json'), policy);

/** The file named by `--config`, `$SWITCHBOARD_CONFIG` or the platform. Never a project file, which is not the user's own. */
export async function openUserConfig(flags: ConfigFlags): Promise<UserConfig> {
  const here = surroundings(flags);
  const named = flags.config ?? (here.env.SWITCHBOARD_CONFIG || undefined);
  const found = await readToEdit(named === undefined ? userConfigFile(here) : path.resolve(here.cwd, named));
  const isNew = found.text.trim() === '';
  const base = isNew ? freshConfig() : found.text;
  const document = parseDocument(found.file, base);
  if (document.problems.length > 0) throw new ConfigError(document.problems);
  const { agent_servers, policy, default_agent, registry } = fields(document.value);
  const { url } = fields(registry);
  return {
    ...found,
    base,
    agents: fields(agent_servers),
    hasPolicy: policy !== undefined,
    hasDefault: default_agent !== undefined,
    isNew,
    registryUrl: typeof url === 'string' ? url : undefined,
  };
}

/** An edit must not add problems; existing problems are not reported here. */
export function refuseWorse(config: UserConfig, edited: string): void {
  const known = new Set(problemsOf(config.file, config.base).map(({ message }) => message));
  const worse = problemsOf(config.file, edited).filter(({ message }) => !known.has(message));
  if (worse.length === 0) return;
  throw new CommandFailure(
    6,
    'this change would make the configuration invalid; nothing was written',
    worse.map(renderProblem).join('\n  '),
  );
}

function problemsOf(file: string, text: string): readonly Problem[] {
  const document = parseDocument(file, text);
  return document.problems.length > 0 ? document.problems : [...validate(document), ...check(layerOf(document), document)];
}
