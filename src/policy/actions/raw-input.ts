// The generic extractor: commands, paths and hosts in a tool's input, for any agent. If it finds several, all of them count.
import { isAbsolute } from '../paths/path.ts';
import { record, string } from './tool-call.ts';

// Parameter names as the sets below spell them: `filePath`, `file_path` and `File-Path` are the same name.
export const plainKey = (key: string): string => key.toLowerCase().replace(/[_-]/g, '');

const keys = (names: string): ReadonlySet<string> => new Set(names.split(' '));

export const COMMAND_KEYS = keys('command cmd commandline cmdline shellcommand script run exec bash argv');
export const STDIN_KEYS = keys('stdin standardinput input');
export const ENVIRONMENT_KEYS = keys('env environment envvars environmentvariables');
export const WORKDIR_KEYS = keys('cwd workdir workingdirectory directory dirpath');
export const PATH_KEYS = keys(
  'filepath path filename file notebookpath targetfile absolutepath relativepath oldpath newpath source destination sourcepath destinationpath target paths files filepaths uri movepath',
);
/** Text that is written, searched for or displayed. A path in it is not opened. */
export const TEXT_KEYS = keys(
  'content contents filetext newstring oldstring newtext oldtext newstr oldstr diff patch text input stdin standardinput description explanation reason pattern query prompt message instructions plan regex title unifieddiff',
);
export const PATCH_KEYS = keys('patch input diff');
export const WRITE_KEYS = keys('content contents filetext newstring newtext newstr diff patch edits changes');

/** Settings of a tool, notes of the agent, and the parts of an MCP call. */
const OTHER_KEYS = keys(
  'commands args arguments change server servername tool toolname invocation changes type kind name id callid turnid toolcallid timeout timeoutms glob include exclude outputmode viewrange url urls format language justification goal note notes summary label severity todos status priority activeform subagenttype model header options question questions answer answers parsedcmd availabledecisions proposedexecpolicyamendment proposednetworkpolicyamendments sandboxpermissions',
);

// Why a path may lead elsewhere; undefined for a plain path. Tools differ in what they expand, so anything that some of them expand is a
// doubt.
export function pathDoubt(path: string): string | undefined {
  if (path.includes('\0')) return 'a path with a character that ends it elsewhere';
  if (/^~[^/\\]/.test(path)) return 'the home directory of another user';
  if (/^\$(\w+|\{\w+\})([\\/]|$)|^%\w+%/.test(path)) return 'a path that begins with a variable';
  return /(^|\\)\.\.(\\|$)/.test(path) ? 'a path that leads upwards on Windows' : undefined;
}

export const isFileUri = (value: string): boolean => /^file:/i.test(value);

/** The files that a `file:` URI can mean: as URI parsers read it, and as programs read it that only cut off the scheme. */
export function filesOfUri(uri: string): { readonly paths: readonly string[]; readonly doubt?: string } {
  const rest = uri.replace(/^file:(\/\/(localhost(?=\/))?)?/i, '');
  try {
    const { host, pathname } = new URL(uri);
    const paths = [...new Set([decodeURIComponent(pathname), rest])];
    return host === '' ? { paths } : { paths, doubt: 'a file of another machine' };
  } catch {
    return { paths: [rest], doubt: 'an address that cannot be read' };
  }
}

/** The directory in which a file name pattern starts, unless it is the searched one. */
export function startOfPattern(pattern: string): { readonly path: string; readonly doubt?: string } | undefined {
  if (!/^([\\/~]|[A-Za-z]:[\\/])/.test(pattern) && !pattern.split(/[\\/]/).includes('..')) return undefined;
  const fixed = /^[^*?[{(!]*/.exec(pattern)?.[0] ?? '';
  const path = fixed === pattern ? fixed : fixed.slice(0, fixed.lastIndexOf('/') + 1);
  const goesUp = pattern.slice(fixed.length).split(/[\\/]/).includes('..');
  return { path: path === '' ? '.' : path, ...(goesUp && { doubt: 'a pattern that leads upwards' }) };
}

export type RawFacts = {
  readonly lines: readonly string[];
  readonly argvs: readonly (readonly string[])[];
  readonly workdir: string | undefined;
  readonly paths: readonly string[];
  readonly urls: readonly string[];
  /** What is searched for: text or file names, depending on the tool. */
  readonly patterns: readonly string[];
  /** The input contains text to write. */
  readonly isWrite: boolean;
  /** Why the input may mean more than was found. Any reason prevents an allow. */
  readonly doubts: readonly string[];
};

const KNOWN_KEYS = [COMMAND_KEYS, STDIN_KEYS, ENVIRONMENT_KEYS, WORKDIR_KEYS, PATH_KEYS, TEXT_KEYS, PATCH_KEYS, WRITE_KEYS, OTHER_KEYS];

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
  const isKnown = (key: string) => KNOWN_KEYS.some((known) => known.has(key));
  walk(rawInput, '', 0, left, (key, value) => {
    // A tool may read it as a file or a command under a name that is not known here.
    if (value !== '' && key !== '' && !isKnown(key)) doubts.add(`an input that is not known (${key.slice(0, 40)})`);
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

/** The commands and URLs exactly as given. */
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
    for (const [name, item] of Object.entries(value))
      walk(item, PATH_KEYS.has(key) ? 'path' : key === 'changes' ? 'change' : plainKey(name), depth + 1, left, found);
}
