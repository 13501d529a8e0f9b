// What a command does, by the program table: every word explained, or the first one that is not.
import type { Operands, StatedEffect, WalkModifier, WordType } from './program.ts';
import { PROGRAM_TABLE } from './programs/index.ts';
import { RUNNER_OPTIONS } from './programs/runner-options.ts';
import { readAwk } from './scripts/awk.ts';
import { type GitReading, readLineRange, readPathspec, readRevisionOrPath } from './scripts/git-words.ts';
import { readJq } from './scripts/jq.ts';
import { readSed, type ScriptReading } from './scripts/sed.ts';
import { createTable, type Entry, type ProgramTable } from './table/lookup.ts';
import { entryOf, type Given, type Parsed, parseWords, type Word } from './table/parse.ts';

export type FileEffectKind = 'read' | 'names' | 'walk' | 'write' | 'modify' | 'append' | 'delete' | 'unpack';

/** Where an effect comes from: only what a word names can be approved by a rule that spells the word out. */
export type Origin = 'operand' | 'option' | 'unasked';

export type FileEffect = {
  readonly kind: FileEffectKind;
  /** As written. `$repository/` stands for the root of git's repository. */
  readonly path: string;
  /** The directories entered before it: `git -C a`, `tar -C a -C b`. */
  readonly entered: readonly string[];
  readonly word: number;
  readonly by: Origin;
  /** The first spelling of the option it comes from. */
  readonly option?: string | undefined;
  readonly walks?: ReadonlySet<WalkModifier>;
  /** Patterns that let a walk see hidden and ignored files: `rg -g`. */
  readonly globs?: readonly string[];
  /** An option asks for hidden files; not what the program does anyway. */
  readonly isWidened?: boolean;
  /** It sees hidden files, by an option or anyway. */
  readonly seesHidden?: boolean;
  /** Patterns for the names of the only files that it reads: `grep --include`. */
  readonly includes?: readonly string[];
  readonly isTracked?: boolean;
  /** The path is a pattern of git's. */
  readonly isPattern?: boolean;
};

export type Effect =
  | FileEffect
  | { readonly kind: 'run'; readonly program: string; readonly word: number; readonly by: Origin }
  /** The project's own code: a script, its tests, its build. */
  | { readonly kind: 'project'; readonly name: string; readonly word: number; readonly by: Origin; readonly isCode: boolean }
  | { readonly kind: 'connect'; readonly host: string | undefined; readonly word: number; readonly by: Origin }
  | { readonly kind: 'environment'; readonly word: number; readonly by: Origin }
  /** Another command that this one starts. */
  | { readonly kind: 'command'; readonly meaning: Meaning; readonly argv: readonly string[]; readonly word: number; readonly by: Origin };

export type Meaning =
  | { readonly isUnderstood: true; readonly parsed: Parsed; readonly effects: readonly Effect[] }
  | { readonly isUnderstood: false; readonly isKnown: boolean; readonly word: string; readonly reason: string; readonly manual?: string };

class NotUnderstood extends Error {
  readonly word: string;
  readonly reason: string;
  constructor(word: string, reason: string) {
    super(reason);
    this.word = word;
    this.reason = reason;
  }
}

const MAX_NESTED = 8;

/** The effects of one command. Pure and linear in its words. */
export function meaningOf(
  argv: readonly string[],
  { table = PROGRAM_TABLE, depth = 0 }: { readonly table?: ProgramTable; readonly depth?: number } = {},
): Meaning {
  const name = argv[0] ?? '';
  const entry = entryOf(table, name);
  if (entry === undefined) return { isUnderstood: false, isKnown: false, word: name, reason: 'not in the program table' };
  const wrong = (word: string, reason: string): Meaning => ({ isUnderstood: false, isKnown: true, word, reason, manual: entry.manual });
  if (depth > MAX_NESTED) return wrong(name, 'nested too deeply');
  const parsed = parseWords(entry, argv, false);
  if ('reason' in parsed) return wrong(parsed.word, parsed.reason);
  try {
    return { isUnderstood: true, parsed, effects: effectsOf(parsed, argv, table, depth) };
  } catch (error) {
    if (error instanceof NotUnderstood) return wrong(error.word, error.reason);
    throw error;
  }
}

type Reading = {
  readonly parsed: Parsed;
  readonly effects: Effect[];
  readonly scope: Pick<FileEffect, 'walks' | 'globs' | 'isWidened' | 'seesHidden' | 'includes'>;
  readonly isTracked: boolean;
  entered: readonly string[];
  readonly nested: (argv: readonly string[]) => Meaning;
};

function effectsOf(parsed: Parsed, argv: readonly string[], table: ProgramTable, depth: number): Effect[] {
  const { entry, given } = parsed;
  const levels = levelsOf(entry);
  const isGiven = (name: string): boolean => given.some(({ option }) => option.first === name);
  for (const { data } of levels)
    for (const group of data.needs ?? [])
      if (!group.some(isGiven)) throw new NotUnderstood(argv[0] ?? '', `it needs one of ${group.join(', ')}`);
  const reading: Reading = {
    parsed,
    effects: [],
    scope: scopeOf(levels, given),
    isTracked: levels.some(({ data }) => data.isTracked === true),
    entered: [],
    nested: (words) => meaningOf(words, { table, depth: depth + 1 }),
  };
  for (const one of given) readGiven(reading, one, isGiven);
  for (const command of parsed.commands) addCommand(reading, command, 'option');
  readOperands(reading, isGiven);
  for (const { data } of levels) for (const effect of data.unasked ?? []) state(reading, effect, 'unasked');
  return reading.effects;
}

/** The entry and what it is a subcommand of, outermost first. */
function levelsOf(entry: Entry): readonly Entry[] {
  return entry.parent === undefined ? [entry] : [...levelsOf(entry.parent), entry];
}

function scopeOf(levels: readonly Entry[], given: readonly Given[]): Reading['scope'] {
  const valuesOf = (isOne: (option: Given['option']) => boolean): string[] =>
    given.flatMap(({ option, values }) => (isOne(option) ? values.map(({ text }) => text) : []));
  const isWidened = given.some(({ option }) => option.types.includes('sets:hidden'));
  return {
    walks: walksOf(levels, given),
    globs: valuesOf(({ types }) => types[0] === 'glob'),
    includes: valuesOf(({ first }) => first === '--include'),
    isWidened,
    seesHidden: isWidened || levels.some(({ data }) => data.walks?.includes('hidden') ?? false),
  };
}

function walksOf(levels: readonly Entry[], given: readonly Given[]): Set<WalkModifier> {
  const walks = new Set<WalkModifier>();
  for (const { data } of levels) {
    for (const modifier of data.walks ?? []) walks.add(modifier);
    for (const { option } of given) for (const modifier of data.widens?.[option.first] ?? []) walks.add(modifier);
  }
  for (const { option } of given) {
    for (const type of option.types) if (type.startsWith('sets:')) walks.add(type.slice(5) as WalkModifier);
  }
  return walks;
}

function readGiven(reading: Reading, { option, word, values }: Given, isGiven: (name: string) => boolean): void {
  if (option.types[0] === 'command') return;
  if (values.length === 0) return readFlag(reading, option.types[0] ?? 'none', word, option.first);
  for (const [index, value] of values.entries()) {
    const type = option.types[Math.min(index, option.types.length - 1)] ?? 'none';
    if (type.startsWith('unclear:')) throw new NotUnderstood(word.text, type.slice(8));
    const isArchive = reading.parsed.entry.parse === 'tar' && option.first === '-f';
    readValue(reading, isArchive ? turned(reading.parsed.entry, type, isGiven) : type, value, 'option', option.first);
  }
}

// An option without a value. An optional value that is not there has no effect of its own.
function readFlag(reading: Reading, type: WordType, word: Word, option: string): void {
  const { index } = word;
  if (type.startsWith('unclear:')) throw new NotUnderstood(word.text, type.slice(8));
  if (type.startsWith('project:')) reading.effects.push({ kind: 'project', name: type.slice(8), word: index, by: 'option', isCode: false });
  else if (type === 'run') reading.effects.push({ kind: 'run', program: option, word: index, by: 'option' });
  else if (type === 'env') reading.effects.push({ kind: 'environment', word: index, by: 'option' });
  else if (type === 'url' || type === 'host') reading.effects.push({ kind: 'connect', host: undefined, word: index, by: 'option' });
  else if (isFileKind(type)) {
    // `find -delete` acts on its starting points.
    const roots = reading.parsed.operands.length > 0 ? reading.parsed.operands : [{ text: '.', index }];
    for (const root of roots) addFile(reading, type, root.text, index, 'option', option);
  }
}

function readOperands(reading: Reading, isGiven: (name: string) => boolean): void {
  const { parsed } = reading;
  const { entry } = parsed;
  const form = (entry.data.operands ?? []).find(
    (one) => (one.if === undefined || one.if.some(isGiven)) && (one.unless === undefined || !one.unless.some(isGiven)),
  );
  const isPassed = entry.data.passes !== undefined && parsed.dashed.length > 0;
  const isApart = isPassed || form?.dashed !== undefined;
  const operands = isApart ? parsed.operands : [...parsed.operands, ...parsed.dashed];
  const count = operands.length + (isPassed ? 0 : isApart ? parsed.dashed.length : 0);
  if (count === 0) {
    if (entry.data.stdin === 'code') throw new NotUnderstood(entry.name, 'it reads its program from standard input');
    if (entry.data.stdin === 'names') throw new NotUnderstood(entry.name, 'it reads file names from standard input');
    if (entry.commands.size > 0 && form === undefined && parsed.given.length === 0) throw new NotUnderstood(entry.name, 'no subcommand');
  }
  // `rg TODO` has an operand, but none that says where to look.
  const isNowhere = form?.rest === undefined ? count === 0 : operands.length <= (form.first?.length ?? 0) + (form.last?.length ?? 0);
  if (isNowhere && (isPassed || !isApart || parsed.dashed.length === 0))
    for (const effect of form?.none ?? []) state(reading, effect, 'operand');
  if (form === undefined && count > 0) throw new NotUnderstood(operands[0]?.text ?? parsed.dashed[0]?.text ?? '', 'it takes no operands');
  if (form !== undefined && (count < (form.min ?? 0) || count > (form.max ?? Number.POSITIVE_INFINITY)))
    throw new NotUnderstood(operands.at(-1)?.text ?? entry.name, 'more or fewer operands than are understood');
  if (form !== undefined) assign(reading, form, operands, isGiven);
  if (isPassed) readPassed(reading, parsed.dashed);
  else if (form?.dashed !== undefined)
    for (const word of parsed.dashed) readValue(reading, turned(entry, form.dashed, isGiven), word, 'operand', undefined);
  if (entry.parse === 'gnu' && form !== undefined) readAsOperands(reading, form, isGiven);
}

function assign(reading: Reading, form: Operands, operands: readonly Word[], isGiven: (name: string) => boolean): void {
  const { first = [], last = [] } = form;
  const match = form.match === undefined ? undefined : new RegExp(form.match);
  for (const [index, word] of operands.entries()) {
    if (match !== undefined && !match.test(word.text)) throw new NotUnderstood(word.text, 'an operand that is not understood');
    const fromRight = operands.length - index;
    const type = first[index] ?? (fromRight <= last.length ? last[last.length - fromRight] : form.rest);
    if (type === undefined) throw new NotUnderstood(word.text, 'an operand too many');
    if (type === 'command') {
      addCommand(reading, operands.slice(index), 'operand');
      return;
    }
    readValue(reading, turned(reading.parsed.entry, type, isGiven), word, 'operand', undefined);
  }
}

// BSD's tools stop at the first operand, so what follows it is a file to them even if it looks like an option.
function readAsOperands(reading: Reading, form: Operands, isGiven: (name: string) => boolean): void {
  const start = reading.parsed.operands[0]?.index;
  const type = form.rest === undefined ? undefined : turned(reading.parsed.entry, form.rest, isGiven);
  if (start === undefined || type === undefined || !isFileKind(type)) return;
  for (const { word, values } of reading.parsed.given)
    for (const { text, index } of [word, ...values])
      if (index > start && text.includes('/')) addFile(reading, type, text, index, 'operand', undefined);
}

function turned(entry: Entry, type: WordType, isGiven: (name: string) => boolean): WordType {
  for (const [option, types] of Object.entries(entry.data.turns ?? {})) if (isGiven(option)) return types[type] ?? type;
  return type;
}

// Words behind `--` go to the project's script, whose program is not known: only what test runners and linters agree on is understood.
const RUNNER = createTable([RUNNER_OPTIONS]);

function readPassed(reading: Reading, words: readonly Word[]): void {
  const meaning = meaningOf([RUNNER_OPTIONS.name, ...words.map(({ text }) => text)], { table: RUNNER });
  if (!meaning.isUnderstood) throw new NotUnderstood(meaning.word, `${meaning.reason} (it goes to the project's script)`);
  const index = (word: number): number => words[word - 1]?.index ?? 0;
  for (const effect of meaning.effects) reading.effects.push({ ...effect, word: index(effect.word) });
}

function addCommand(reading: Reading, words: readonly Word[], by: Origin): void {
  const argv = words.map(({ text }) => text);
  reading.effects.push({ kind: 'command', meaning: reading.nested(argv), argv, word: words[0]?.index ?? 0, by });
}

const FILE_KINDS: ReadonlySet<string> = new Set(['read', 'names', 'walk', 'write', 'modify', 'append', 'delete', 'unpack']);
const isFileKind = (type: WordType): type is FileEffectKind => FILE_KINDS.has(type);
const NUMBER = /^[-+]?\d+(\.\d+)?([kKMGTPEbcw]i?B?|ms|[smhd])?$/;

function readValue(reading: Reading, type: WordType, word: Word, by: Origin, option: string | undefined): void {
  const { text, index } = word;
  if (isFileKind(type)) return addFile(reading, type, text, index, by, option);
  switch (type) {
    case 'none':
    case 'text':
    case 'date':
    case 'pattern':
    case 'glob':
      return;
    case 'number':
      if (!NUMBER.test(text)) throw new NotUnderstood(text, 'not a number');
      return;
    case 'revision':
      if (text.startsWith('-')) throw new NotUnderstood(text, 'not a revision');
      return;
    case 'enter':
      reading.entered = [...reading.entered, text];
      return addFile(reading, 'names', '.', index, by, option);
    case 'run':
      reading.effects.push({ kind: 'run', program: text, word: index, by });
      return;
    case 'url':
      reading.effects.push({ kind: 'connect', host: hostOfUrl(text), word: index, by });
      return;
    case 'host':
      if (!/^(?:[\w.-]+@)?[A-Za-z0-9][\w.-]*$/.test(text)) throw new NotUnderstood(text, 'not the name of a host');
      reading.effects.push({ kind: 'connect', host: text.replace(/^.*@/, '').toLowerCase(), word: index, by });
      return;
    case 'env':
      reading.effects.push({ kind: 'environment', word: index, by });
      return;
    case 'data': {
      const file = /(?:^|=)[@<](.+)$/s.exec(text)?.[1];
      if (file !== undefined) addFile(reading, 'read', file, index, by, option);
      return;
    }
    case 'revision-or-path':
      return addGit(reading, readRevisionOrPath(text), word, by, option);
    case 'pathspec':
      return addGit(reading, readPathspec(text), word, by, option);
    case 'line-range':
      return addGit(reading, readLineRange(text), word, by, option);
    case 'script:sed':
      return addScript(reading, readSed(text), word, by, option);
    case 'script:jq':
      return addScript(reading, readJq(text), word, by, option);
    case 'script:awk':
      return addScript(reading, readAwk(text), word, by, option);
    case 'script:shell':
      throw new NotUnderstood(text, 'a command line inside a word');
    case 'command':
      throw new NotUnderstood(text, 'another command');
    default:
  }
  if (type.startsWith('one:')) {
    if (!type.slice(4).split(',').includes(text)) throw new NotUnderstood(text, `not one of ${type.slice(4)}`);
  } else if (type.startsWith('project:')) {
    reading.effects.push({
      kind: 'project',
      name: text,
      word: index,
      by,
      isCode: reading.parsed.entry.parse === 'first' || by === 'option',
    });
    addFile(reading, 'read', text, index, by, option);
  } else if (!type.startsWith('sets:')) throw new NotUnderstood(text, type.replace(/^unclear:/, ''));
}

function hostOfUrl(text: string): string {
  // Braces and brackets stand for several addresses (curl); a name before the host is for signing in.
  const host = /^https?:\/\/([A-Za-z0-9.-]+)(:\d+)?([/?#][^[\]{}\s\\]*)?$/i.exec(text)?.[1];
  if (host === undefined) throw new NotUnderstood(text, 'not a plain http or https address');
  return host.toLowerCase().replace(/\.$/, '');
}

function addFile(reading: Reading, kind: FileEffectKind, path: string, word: number, by: Origin, option: string | undefined): void {
  // Standard input or output.
  if (path === '-' && kind !== 'delete') return;
  // tar takes `host:file` for an archive on another machine.
  if (reading.parsed.entry.parse === 'tar' && option === '-f' && path.includes(':')) throw new NotUnderstood(path, 'an archive elsewhere');
  reading.effects.push({
    kind,
    path,
    entered: reading.entered,
    word,
    by,
    option,
    ...((kind === 'walk' || kind === 'names') && reading.scope),
    ...(reading.isTracked && { isTracked: true }),
  });
}

function addGit(reading: Reading, found: GitReading, { text, index }: Word, by: Origin, option: string | undefined): void {
  if ('reason' in found) throw new NotUnderstood(text, found.reason);
  for (const { path, isFromRoot, isPattern } of found.paths)
    reading.effects.push({
      kind: 'read',
      path: isFromRoot ? `$repository/${path}` : path,
      entered: reading.entered,
      word: index,
      by,
      option,
      isTracked: true,
      isPattern,
    });
}

function addScript(reading: Reading, found: ScriptReading, { text, index }: Word, by: Origin, option: string | undefined): void {
  if ('reason' in found) throw new NotUnderstood(text, found.reason);
  for (const effect of found.effects) {
    if (effect.kind === 'environment') reading.effects.push({ kind: 'environment', word: index, by });
    // A script is no file name: what it writes is as unexpected as what an option writes.
    else addFile(reading, effect.kind, effect.path, index, effect.kind === 'write' ? 'option' : by, option ?? 'script');
  }
}

function state(reading: Reading, effect: StatedEffect, by: Origin): void {
  const at = { word: -1, by };
  switch (effect.kind) {
    case 'run':
      reading.effects.push({ kind: 'run', program: effect.program, ...at });
      return;
    case 'project':
      reading.effects.push({ kind: 'project', name: effect.name, isCode: false, ...at });
      return;
    case 'connect':
      reading.effects.push({ kind: 'connect', host: effect.host, ...at });
      return;
    case 'environment':
      reading.effects.push({ kind: 'environment', ...at });
      return;
    default:
      addFile(reading, effect.kind, effect.path, -1, by, undefined);
  }
}
