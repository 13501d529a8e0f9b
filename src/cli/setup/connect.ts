// `switchboard connect` and `disconnect`: add switchboard to the agents of an editor, and remove it.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { ownCommand, packageFile } from '../../app/package-files.ts';
import { ConfigError } from '../../config/problems.ts';
import { didYouMean, nearestOf } from '../../policy/format/nearest.ts';
import { textBefore } from '../../setup/edit-file.ts';
import { NotAnObject } from '../../setup/edit-jsonc.ts';
import { connected, disconnected, EDITORS, type Editor, type EditorFile, openEditorFile, placesHere } from '../../setup/editors.ts';
import { SNIPPETS } from '../../setup/snippets.ts';
import type { Start } from '../../setup/start-command.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { printData } from '../policy/output.ts';
import { AUTO, daemonUrl } from '../serve/acp-connect.ts';
import { type ChangeFlags, confirmChanges, makeChange, type Planned, printChange, say } from './show-change.ts';

export type ConnectFlags = ChangeFlags & {
  readonly name?: string;
  readonly file?: string;
  readonly config?: string;
  readonly agent?: string;
  readonly print?: string;
  /** The address of a daemon to use instead of agents of this machine; `auto` for the user's own. */
  readonly daemon?: string;
  readonly tokenFile?: string;
};

export async function connectCommand(id: string | undefined, flags: ConnectFlags): Promise<number> {
  if (flags.print !== undefined) return printSnippet(flags.print, flags);
  const editor = clientNamed(id);
  const planned = await planConnection(editor, flags);
  const isShown = await confirmChanges([planned], flags);
  const change = { name: planned.name, ...(await makeChange(planned, flags)) };
  const warnings = [temporaryInstall(), missingConfig(flags), missingToken(flags)].filter((text) => text !== undefined);
  if (flags.json) {
    printData({ editor: editor.id, ...change }, warnings);
    return 0;
  }
  printChange(change, isShown);
  for (const text of warnings) notice(text);
  if (!flags.dryRun) say(`Next: ${editor.next}`);
  return 0;
}

/** The configuration may be created later, but a typo would show up only in the editor's log. */
function missingConfig({ config }: ConnectFlags): string | undefined {
  if (config === undefined || existsSync(config)) return undefined;
  return `${path.resolve(config)} does not exist; without it the editor cannot start switchboard`;
}

/** Editors that are started from the desktop lack the variables of a shell. */
function missingToken({ daemon, tokenFile }: ConnectFlags): string | undefined {
  if (daemon === undefined || daemon === AUTO) return undefined;
  if (tokenFile === undefined) return 'the editor needs the token in SWITCHBOARD_TOKEN; to read it from a file, add --token-file FILE';
  return existsSync(tokenFile) ? undefined : `${path.resolve(tokenFile)} does not exist; put the token of the daemon into it`;
}

/** Adds switchboard to the editor's file, or updates the existing entry. */
export async function planConnection(editor: Editor, flags: ConnectFlags): Promise<Planned & { readonly name: string }> {
  const file = await openEditor(editor, flags);
  const name = flags.name ?? file.agents.find(({ isUs }) => isUs)?.name ?? editor.ourName;
  const taken = file.agents.find((agent) => agent.name === name && !agent.isUs);
  if (taken) throw new CommandFailure(2, `${file.file} already has another agent "${name}"`, 'choose another name: --name NAME');
  return { name, file, text: textAfter(file, () => connected(file, name, startOf(flags))) };
}

export async function disconnectCommand(id: string | undefined, flags: ConnectFlags): Promise<number> {
  const editor = clientNamed(id);
  const file = await openEditor(editor, flags);
  const ours = file.agents.filter(({ name, isUs }) => isUs && (flags.name === undefined || name === flags.name)).map(({ name }) => name);
  const before = await textBefore(file);
  const planned = { file, text: textAfter(file, () => disconnected(file, ours, before)) };
  const isShown = await confirmChanges([planned], flags);
  const done = await makeChange(planned, flags);
  if (flags.json) {
    printData({ editor: editor.id, names: ours, ...done });
    return 0;
  }
  if (ours.length === 0) say(`${editor.title} is not connected: ${file.file} has no switchboard entry`);
  else printChange(done, isShown);
  return 0;
}

function textAfter(file: EditorFile, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    throw new CommandFailure(6, `cannot edit ${file.file}: ${error.message}`, 'fix the file yourself; nothing was written');
  }
}

export function clientNamed(id: string | undefined): Editor {
  const ids = EDITORS.map((editor) => editor.id);
  const found = EDITORS.find((editor) => editor.id === id);
  if (found) return found;
  const all = `editors: ${ids.join(', ')}. For other editors: switchboard connect --print ${Object.keys(SNIPPETS).join('|')}`;
  if (id === undefined) throw new CommandFailure(2, 'name an editor', all);
  throw new CommandFailure(2, `unknown editor "${id}"`, didYouMean(id, ids) ?? all);
}

/** Opens the editor's file, or the given one. Reports the position of syntax errors. */
export async function openEditor(editor: Editor, { file }: { readonly file?: string }): Promise<EditorFile> {
  try {
    return await openEditorFile(editor, file === undefined ? editor.file(placesHere()) : path.resolve(file));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandFailure(
      6,
      `cannot parse the settings of ${editor.title}, so they stay unchanged`,
      error.message.replaceAll('\n', '\n  '),
    );
  }
}

function printSnippet(kind: string, flags: ConnectFlags): number {
  const start = startOf(flags);
  const snippet = SNIPPETS[kind];
  if (!snippet) throw new CommandFailure(2, `unknown snippet "${kind}"`, nearestOf(kind, Object.keys(SNIPPETS), 'snippets'));
  if (flags.json) printData({ kind, snippet: snippet(start) });
  else process.stdout.write(snippet(start));
  return 0;
}

function startOf(flags: ConnectFlags): Start {
  const { daemon, tokenFile, config, agent } = flags;
  if (daemon === undefined) {
    if (tokenFile !== undefined) throw new CommandFailure(2, '--token-file needs --daemon', 'name the daemon: --daemon URL');
    return ourCommand(flags);
  }
  if (daemon === AUTO) {
    if (tokenFile !== undefined || agent !== undefined)
      throw new CommandFailure(
        2,
        '--daemon auto excludes --token-file and --agent',
        'your own daemon needs no token and has its own agents',
      );
    const { command, args } = ourCommand(config === undefined ? {} : { config });
    return { command, args: [...args, '--connect', AUTO] };
  }
  if (config !== undefined || agent !== undefined)
    throw new CommandFailure(2, '--daemon excludes --config and --agent', 'the daemon has its own configuration and agents');
  const token = tokenFile === undefined ? [] : ['--token-file', path.resolve(tokenFile)];
  const { command, args } = ourCommand({});
  return { command, args: [...args, '--connect', daemonUrl(daemon), ...token] };
}

/** How another program starts us: with absolute paths, because desktop programs lack the PATH of a shell. */
function ourCommand(flags: { readonly config?: string; readonly agent?: string }): Start {
  const config = flags.config === undefined ? [] : ['--config', path.resolve(flags.config)];
  const agent = flags.agent === undefined ? [] : ['--agent', flags.agent];
  return ownCommand('acp', ...config, ...agent);
}

/** Why the installation may disappear, if it may. */
export function temporaryInstall(): string | undefined {
  const script = packageFile('bin', 'switchboard.js');
  if (/[\\/]_npx[\\/]/.test(script))
    return `${script} is in the npx cache, which npm may delete; install acp-switchboard first (npm install --global PACKAGE)`;
  return undefined;
}
