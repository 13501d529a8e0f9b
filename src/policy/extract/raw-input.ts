// The generic extractor: commands, paths and hosts in a tool's input, whatever the agent. Where several are found, all of them count.
import { isAbsolute } from '../path.ts';
import { list, record, string } from './tool-call.ts';

export type RawFacts = {
  readonly lines: readonly string[];
  readonly argvs: readonly (readonly string[])[];
  readonly workdir: string | undefined;
  readonly paths: readonly string[];
  readonly urls: readonly string[];
  /** It carries text to be written. */
  readonly isWrite: boolean;
  /** It sets variables of the environment, which can turn any program into another. */
  readonly setsEnvironment: boolean;
};

const COMMAND_KEYS = ['command', 'cmd', 'command_line', 'commandLine', 'shell_command'];
const WORKDIR_KEYS = ['cwd', 'workdir', 'working_directory', 'workingDirectory', 'directory', 'dir_path'];
const PATH_KEYS = new Set([
  ...[
    'file_path',
    'filePath',
    'filepath',
    'path',
    'fileName',
    'filename',
    'file',
    'notebook_path',
    'target_file',
    'absolute_path',
    'relative_path',
  ],
  ...['old_path', 'new_path', 'source', 'destination', 'source_path', 'destination_path', 'target', 'paths', 'files', 'file_paths', 'uri'],
]);
/** Text that is written, searched for or said; a path in it is not one that is opened. */
const TEXT_KEYS = new Set([
  ...[
    'content',
    'contents',
    'file_text',
    'new_string',
    'old_string',
    'newText',
    'oldText',
    'new_str',
    'old_str',
    'diff',
    'patch',
    'text',
    'input',
  ],
  ...['description', 'explanation', 'reason', 'pattern', 'query', 'prompt', 'message', 'instructions', 'plan', 'regex', 'title'],
]);
const WRITE_KEYS = ['content', 'contents', 'file_text', 'new_string', 'newText', 'new_str', 'diff', 'patch', 'edits', 'changes'];

const MAX_DEPTH = 6;
const MAX_STRINGS = 2000;

export function rawFacts(rawInput: unknown): RawFacts {
  const input = record(rawInput);
  const { lines, argvs } = commandsIn(input);
  const workdir = WORKDIR_KEYS.map((key) => string(input[key])).find((value) => value !== undefined);
  const paths: string[] = [];
  const urls: string[] = [];
  walk(rawInput, '', 0, { left: MAX_STRINGS }, (key, value) => {
    if (key === 'patch' || key === 'input' || key === 'diff') paths.push(...patchedFiles(value));
    if (TEXT_KEYS.has(key) || COMMAND_KEYS.includes(key) || key === 'commands' || key === 'args' || WORKDIR_KEYS.includes(key)) return;
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) (value.startsWith('file://') ? paths : urls).push(value.replace(/^file:\/\//, ''));
    else if (PATH_KEYS.has(key) || (value.length < 4096 && !value.includes('\n') && looksLikePath(value))) paths.push(value);
  });
  paths.push(...Object.keys(record(input.changes)));
  const isWrite = WRITE_KEYS.some((key) => input[key] !== undefined) || patchedFiles(string(input.input) ?? '').length > 0;
  const environment = input.env ?? input.environment;
  return {
    lines,
    argvs,
    workdir,
    paths: [...new Set(paths)],
    urls,
    isWrite,
    setsEnvironment: Object.keys(Object(environment ?? {})).length > 0,
  };
}

/** What a command or a request to a host was, to the letter. */
export function textsOf({ lines, argvs, urls }: RawFacts): string[] {
  return [...lines, ...argvs.map((argv) => JSON.stringify(argv)), ...urls];
}

// A string is a shell line, a list of strings is an argv; `commands` is several lines.
function commandsIn(input: Readonly<Record<string, unknown>>): { lines: string[]; argvs: string[][] } {
  const lines: string[] = [];
  const argvs: string[][] = [];
  const args = list(input.args).map(String);
  for (const key of COMMAND_KEYS) {
    const value = input[key];
    if (typeof value === 'string') {
      if (args.length === 0) lines.push(value);
      else argvs.push([value, ...args]);
    } else if (Array.isArray(value)) argvs.push(value.map(String));
    else if (typeof value === 'object' && value !== null) {
      const inner = commandsIn(value as Record<string, unknown>);
      lines.push(...inner.lines);
      argvs.push(...inner.argvs);
    }
  }
  for (const entry of list(input.commands)) {
    if (typeof entry === 'string') lines.push(entry);
    else if (Array.isArray(entry)) argvs.push(entry.map(String));
    else lines.push(...commandsIn(record(entry)).lines);
  }
  return { lines: [...new Set(lines)], argvs };
}

function looksLikePath(value: string): boolean {
  return isAbsolute(value) || /^(~|\.{1,2})\//.test(value);
}

// `*** Update File: x` of the patches that codex and cline apply.
function patchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$/gm)].map(([, file = '']) => file);
}

function walk(value: unknown, key: string, depth: number, budget: { left: number }, found: (key: string, value: string) => void): void {
  // Something this deep or long holds more than we look at; the caller must not take what was found for all there is.
  if (depth > MAX_DEPTH || budget.left-- <= 0) throw new Error('the input is too large to be looked through');
  if (typeof value === 'string') found(key, value);
  else if (Array.isArray(value)) for (const item of value) walk(item, key, depth + 1, budget, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value))
      walk(item, name === 'path' || PATH_KEYS.has(key) ? 'path' : name, depth + 1, budget, found);
}
