// The generic extractor: commands, paths and hosts in a tool's input, whatever the agent. Where several are found, all of them count.
import { isAbsolute } from '../paths/path.ts';
import {
  COMMAND_KEYS,
  ENVIRONMENT_KEYS,
  PATCH_KEYS,
  PATH_KEYS,
  plainKey,
  STDIN_KEYS,
  TEXT_KEYS,
  WORKDIR_KEYS,
  WRITE_KEYS,
} from './raw-keys.ts';
import { filesOfUri, isFileUri, pathDoubt } from './raw-path.ts';
import { record, string } from './tool-call.ts';

export type RawFacts = {
  readonly lines: readonly string[];
  readonly argvs: readonly (readonly string[])[];
  readonly workdir: string | undefined;
  readonly paths: readonly string[];
  readonly urls: readonly string[];
  /** What is searched for: text or file names, as the tool has it. */
  readonly patterns: readonly string[];
  /** It carries text to be written. */
  readonly isWrite: boolean;
  /** Why there may be more to it than was found: nothing is allowed then. */
  readonly doubts: readonly string[];
};

const MAX_DEPTH = 32;
const MAX_STRINGS = 10_000;

export function rawFacts(rawInput: unknown): RawFacts {
  const given = Object.entries(record(rawInput)).map(([key, value]) => [plainKey(key), value] as const);
  const valuesOf = (names: ReadonlySet<string>) => given.flatMap(([key, value]) => (names.has(key) ? [value] : []));
  const doubts = new Set<string>();
  const { lines, argvs } = commandsIn(rawInput, doubts);
  const workdirs = [...new Set(valuesOf(WORKDIR_KEYS).flatMap((value) => string(value) ?? []))];
  const paths: string[] = [];
  const urls: string[] = [];
  const patterns: string[] = [];
  const addPath = (path: string, doubt = pathDoubt(path)) => {
    if (doubt !== undefined) doubts.add(doubt);
    if (path !== '') paths.push(path);
  };
  const left = { strings: MAX_STRINGS, isCut: false };
  walk(rawInput, '', 0, left, (key, value) => {
    if (PATCH_KEYS.has(key)) for (const file of patchedFiles(value)) addPath(file);
    if (key === 'pattern') patterns.push(value);
    if (TEXT_KEYS.has(key) || COMMAND_KEYS.has(key) || key === 'commands' || key === 'args' || WORKDIR_KEYS.has(key)) return;
    if (isFileUri(value)) {
      const { paths: files, doubt } = filesOfUri(value);
      for (const file of files) addPath(file, doubt ?? pathDoubt(file));
    } else if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) urls.push(value);
    else if (PATH_KEYS.has(key) || (value.length < 4096 && !value.includes('\n') && looksLikePath(value))) addPath(value);
  });
  if (left.isCut) doubts.add('more than is looked through');
  for (const changes of valuesOf(new Set(['changes']))) for (const file of Object.keys(record(changes))) addPath(file);
  const isRun = lines.length > 0 || argvs.length > 0;
  if (isRun && workdirs.length > 1) doubts.add('several directories to run in');
  if (isRun && valuesOf(STDIN_KEYS).some((value) => value !== undefined && value !== null && value !== ''))
    doubts.add('text on its standard input');
  if (valuesOf(ENVIRONMENT_KEYS).some((value) => Object.keys(Object(value ?? {})).length > 0))
    doubts.add('variables of the environment are set');
  const isWrite =
    valuesOf(WRITE_KEYS).some((value) => value !== undefined) ||
    valuesOf(PATCH_KEYS).some((value) => patchedFiles(string(value) ?? '').length > 0);
  return { lines, argvs, workdir: workdirs[0], paths: [...new Set(paths)], urls, patterns, isWrite, doubts: [...doubts] };
}

/** What a command or a request to a host was, to the letter. */
export function textsOf({ lines, argvs, urls }: RawFacts): string[] {
  return [...lines, ...argvs.map((argv) => JSON.stringify(argv)), ...urls];
}

type Commands = { readonly lines: string[]; readonly argvs: string[][] };

// A string is a shell line, a list of strings is an argv; `commands` is several of either.
function commandsIn(holder: unknown, doubts: Set<string>): Commands {
  const found: Commands = { lines: [], argvs: [] };
  const fields = Object.entries(record(holder)).map(([key, value]) => [plainKey(key), value] as const);
  const args = fields.flatMap(([key, value]) => (key === 'args' && Array.isArray(value) ? value.map(String) : []));
  for (const [key, value] of fields) {
    if (COMMAND_KEYS.has(key)) addCommand(found, value, args, doubts);
    else if (key === 'commands') for (const entry of Array.isArray(value) ? value : [value]) addCommand(found, entry, [], doubts);
  }
  return { lines: [...new Set(found.lines)], argvs: found.argvs };
}

function addCommand({ lines, argvs }: Commands, value: unknown, args: readonly string[], doubts: Set<string>): void {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return;
  if (typeof value === 'string') {
    if (args.length === 0) lines.push(value);
    else argvs.push([value, ...args]);
    return;
  }
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return void argvs.push([...value, ...args]);
  const inner = commandsIn(value, doubts);
  lines.push(...inner.lines);
  argvs.push(...inner.argvs);
  if (inner.lines.length + inner.argvs.length === 0) doubts.add('a command that cannot be read');
}

function looksLikePath(value: string): boolean {
  return isAbsolute(value) || /^(~|\.{1,2})\//.test(value);
}

// `*** Update File: x` of the patches that codex and cline apply.
function patchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$/gm)].map(([, file = '']) => file);
}

type Left = { strings: number; isCut: boolean };

function walk(value: unknown, key: string, depth: number, left: Left, found: (key: string, value: string) => void): void {
  if (depth > MAX_DEPTH || left.strings-- <= 0) left.isCut = true;
  else if (typeof value === 'string') found(key, value);
  else if (Array.isArray(value)) for (const item of value) walk(item, key, depth + 1, left, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) walk(item, PATH_KEYS.has(key) ? 'path' : plainKey(name), depth + 1, left, found);
}
