// Where each editor stores its agents, and the format of an entry.
import os from 'node:os';
import path from 'node:path';
import { isOurProxy } from '../agents/recursion.ts';
import { joinWords, splitWords } from '../agents/shell-words.ts';
import { parseDocument } from '../config/parse.ts';
import { ConfigError, type Document } from '../config/problems.ts';
import { fields } from '../json-object.ts';
import { platformOf } from '../platform/platform.ts';
import { type EditableFile, readToEdit } from './edit-file.ts';
import { isBare, withoutProperty, withProperty } from './edit-jsonc.ts';
import type { Start } from './start-command.ts';

export type Places = { readonly env: NodeJS.ProcessEnv; readonly home: string; readonly platform: NodeJS.Platform };

export type Editor = {
  readonly id: string;
  readonly title: string;
  file(places: Places): string;
  /** The key path to the agents. */
  readonly path: readonly string[];
  /** JSON without comments and trailing commas. */
  readonly isStrict: boolean;
  /** The name of our entry. */
  readonly ourName: string;
  toEntry(start: Start): Readonly<Record<string, unknown>>;
  /** The command of an entry; undefined if the entry has none. */
  fromEntry(entry: unknown): Start | undefined;
  /** The next step for the user. */
  readonly next: string;
};

const plain = ({ command, args }: Start) => ({ command, args });

function fromPlain(entry: unknown): Start | undefined {
  const { command, args, env } = fields(entry);
  if (typeof command !== 'string' || command === '') return undefined;
  const words = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
  const variables = Object.entries(fields(env)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return { command, args: words, ...(variables.length > 0 && { env: Object.fromEntries(variables) }) };
}

export const EDITORS: readonly Editor[] = [
  {
    id: 'zed',
    title: 'Zed',
    file: ({ env, home, platform }) => path.join(platformOf(platform).unixConfigHome(env, home), 'zed', 'settings.json'),
    path: ['agent_servers'],
    isStrict: false,
    ourName: 'Switchboard',
    toEntry: (start) => ({ type: 'custom', ...plain(start) }),
    fromEntry: fromPlain,
    next: 'open the agent panel in Zed and choose Switchboard for a new thread',
  },
  {
    id: 'jetbrains',
    title: 'JetBrains IDEs',
    file: ({ home }) => path.join(home, '.jetbrains', 'acp.json'),
    path: ['agent_servers'],
    isStrict: true,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'open the AI chat of the IDE and choose Switchboard from the agents',
  },
  {
    id: 'vscode',
    title: 'VS Code (extension ACP Client)',
    file: (places) => path.join(configHome(places), 'Code', 'User', 'settings.json'),
    path: ['acp.agents'],
    isStrict: false,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'install the extension ACP Client if necessary, and connect to Switchboard in its view',
  },
  {
    id: 'acp-ui',
    title: 'acp-ui',
    file: (places) => path.join(configHome(places), 'acp-ui', 'agents.json'),
    path: ['agents'],
    isStrict: true,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'restart acp-ui and choose Switchboard',
  },
  {
    id: 'acpx',
    title: 'acpx',
    file: ({ home }) => path.join(home, '.acpx', 'config.json'),
    path: ['agents'],
    isStrict: true,
    ourName: 'switchboard',
    toEntry: ({ command, args }) => ({ command: joinWords([command, ...args]) }),
    fromEntry(entry) {
      const { command } = fields(entry);
      const [program, ...args] = (typeof command === 'string' && splitWords(command)) || [];
      return program === undefined ? undefined : { command: program, args };
    },
    next: 'run: acpx switchboard exec "hello"',
  },
];

/** The directories of this machine. */
export function placesHere(): Places {
  return { env: process.env, home: os.homedir(), platform: process.platform };
}

const configHome = ({ env, home, platform }: Places): string => platformOf(platform).configHome(env, home);

// The settings file of an editor, with its agents.
export type Listed = { readonly name: string; readonly entry: unknown; readonly start: Start | undefined; readonly isUs: boolean };
export type EditorFile = EditableFile & { readonly editor: Editor; readonly document: Document; readonly agents: readonly Listed[] };

/** Throws a ConfigError with the positions of syntax errors. */
export async function openEditorFile(editor: Editor, file: string): Promise<EditorFile> {
  const found = await readToEdit(file);
  const document = parsed(editor, file, found.text);
  if (document.problems.length > 0) throw new ConfigError(document.problems);
  return { ...found, editor, document, agents: agentsIn(editor, document) };
}

const parsed = ({ isStrict }: Editor, file: string, text: string): Document =>
  parseDocument(file, text.trim() === '' ? '{}' : text, { isStrict });

const listIn = ({ path }: Editor, document: Document): unknown => path.reduce<unknown>((value, key) => fields(value)[key], document.value);

function agentsIn(editor: Editor, document: Document): readonly Listed[] {
  const entries = fields(listIn(editor, document));
  return document.keys(editor.path).map((name) => {
    const start = editor.fromEntry(entries[name]);
    return { name, entry: entries[name], start, isUs: start !== undefined && isOurProxy(start.command, start.args) };
  });
}

/** Adds or updates our entry; keeps keys that the user added to it. */
export function connected({ text, editor, agents }: EditorFile, name: string, start: Start): string {
  const ours = editor.toEntry(start);
  const present = agents.find((agent) => agent.name === name);
  if (!present) return withProperty(text, [...editor.path, name], ours);
  const changed = Object.entries(ours).filter(([key, value]) => JSON.stringify(fields(present.entry)[key]) !== JSON.stringify(value));
  return changed.reduce((before, [key, value]) => withProperty(before, [...editor.path, name, key], value), text);
}

/**
 * Removes the named entries. Removes an empty agent list only if we created it (`before` is the text before our last change):
 * some editors (acp-ui) do not start without a list.
 */
export function disconnected({ file, text, editor }: EditorFile, names: readonly string[], before: string | undefined): string {
  const without = names.reduce((left, name) => withoutProperty(left, [...editor.path, name]), text);
  const isOurs = before !== undefined && listIn(editor, parsed(editor, file, before)) === undefined;
  return names.length > 0 && isOurs && isBare(without, editor.path) ? withoutProperty(without, editor.path) : without;
}
