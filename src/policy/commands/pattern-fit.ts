// Compares a command pattern with a command by meaning: `git log ...` fits `git --no-pager log`, `tar -tf ...` any spelling of -t and -f.

import { compileNameGlob } from '../paths/name-glob.ts';
import { type CommandPattern, isPlainWord } from './command-pattern.ts';
import type { Effect, Meaning } from './effect.ts';
import { PROGRAM_TABLE } from './programs/index.ts';
import type { ProgramTable } from './table/lookup.ts';
import { entryOf, type Given, type Parsed, parseWords, type Word } from './table/parse.ts';

/** What a pattern says about a command that it fits. */
export type Fit = {
  /** The words it spells out, without a wildcard. What they do is approved. */
  readonly named: ReadonlySet<number>;
  /** The options it requires; their values may still be open. */
  readonly options: ReadonlySet<string>;
  /** The words that it describes, also by a wildcard. */
  readonly matched: ReadonlySet<number>;
  readonly isProgramNamed: boolean;
  /** It names the program with its subcommand, so it means what that does unasked. */
  readonly isCommandNamed: boolean;
  /** It spells out every word. */
  readonly isSpelledOut: boolean;
  /** For each command that this one starts and the pattern names too. */
  readonly nested: ReadonlyMap<Effect, Fit>;
};

type Reading = { readonly parsed: Parsed; readonly words: readonly string[] };

/** More alternatives than a person writes. Such a pattern is only compared word by word. */
const MAX_READINGS = 128;
const readings = new WeakMap<ProgramTable, WeakMap<CommandPattern, readonly Reading[]>>();

export function readingsOf(pattern: CommandPattern, table: ProgramTable = PROGRAM_TABLE): readonly Reading[] {
  let known = readings.get(table);
  if (known === undefined) {
    known = new WeakMap();
    readings.set(table, known);
  }
  let found = known.get(pattern);
  if (found === undefined) {
    found = read(
      pattern.tokens.map(({ choices }) => choices.map(({ source }) => source)),
      table,
    );
    known.set(pattern, found);
  }
  return found;
}

function read(tokens: readonly (readonly string[])[], table: ProgramTable): readonly Reading[] {
  if (tokens.reduce((product, choices) => product * choices.length, 1) > MAX_READINGS) return [];
  const all = tokens.reduce<readonly (readonly string[])[]>(
    (lists, choices) => lists.flatMap((list) => choices.map((choice) => [...list, choice])),
    [[]],
  );
  return all.flatMap((words) => readWords(words, table) ?? []);
}

function readWords(words: readonly string[], table: ProgramTable): Reading | undefined {
  const entry = entryOf(table, words[0] ?? '');
  if (entry === undefined) return undefined;
  const parsed = parseWords(entry, words, true);
  return 'reason' in parsed ? undefined : { parsed, words };
}

/** For allow rules. The command must be understood. */
export function fitByMeaning(pattern: CommandPattern, meaning: Meaning, table: ProgramTable = PROGRAM_TABLE): Fit | undefined {
  if (!meaning.isUnderstood) return undefined;
  if (pattern.tokens.length === 0) return ANY;
  for (const reading of readingsOf(pattern, table)) {
    const fit = fitReading(reading, pattern.isOpen, meaning, table);
    if (fit !== undefined) return fit;
  }
  return undefined;
}

const ANY: Fit = {
  named: new Set(),
  matched: new Set(),
  isProgramNamed: false,
  options: new Set(),
  isCommandNamed: false,
  isSpelledOut: false,
  nested: new Map(),
};

function fitReading(
  { parsed: wanted }: Reading,
  isOpen: boolean,
  meaning: Meaning & { isUnderstood: true },
  table: ProgramTable,
): Fit | undefined {
  const { parsed, effects } = meaning;
  if (!wanted.path.every((name, index) => name === parsed.path[index])) return undefined;
  const beyond = parsed.path.slice(wanted.path.length);
  const starts = effects.filter((effect): effect is CommandEffect => effect.kind === 'command');
  const nested = new Map<Effect, Fit>();
  const named = new Set<number>();
  const matched = new Set<number>();
  const options = new Set<string>();

  // What the pattern wants of commands that this one starts is compared with them, not with operands.
  const start = Math.min(...starts.flatMap(({ word, by }) => (by === 'operand' ? [word] : [])));
  const isOwn = (word: Word): boolean => word.index < start;
  const operands = [...beyond, ...[...parsed.operands, ...parsed.dashed].filter(isOwn)];
  const wantedOperands = [...wanted.operands, ...wanted.dashed].map(({ text }) => text);
  for (const [index, word] of operands.entries()) {
    const pattern = wantedOperands[index];
    if (pattern === undefined) {
      if (!isOpen) return undefined;
      break;
    }
    if (!wordFits(pattern, typeof word === 'string' ? word : word.text)) return undefined;
    if (typeof word === 'string') continue;
    matched.add(word.index);
    if (!pattern.includes('*')) named.add(word.index);
  }
  const rest = wantedOperands.slice(operands.length);
  for (const [index, start] of starts.entries()) {
    const words = start.by === 'operand' ? rest : (wanted.commands[index] ?? []).map(({ text }) => text);
    const reading = words.length === 0 ? undefined : readWords(words, table);
    const fit = reading && start.meaning.isUnderstood ? fitReading(reading, isOpen, start.meaning, table) : undefined;
    if (words.length > 0 && fit === undefined) return undefined;
    if (fit !== undefined) nested.set(start, fit);
  }
  if (rest.length > 0 && !starts.some(({ by }) => by === 'operand')) return undefined;

  for (const want of wanted.given) {
    const found = parsed.given.filter(({ option }) => option.first === want.option.first);
    const match = found.find(({ values }) => want.values.every((value, index) => wordFits(value.text, values[index]?.text ?? '')));
    if (match === undefined) return undefined;
    options.add(want.option.first);
    // In a cluster (`-uo.bashrc`) the word holds more than the option that the pattern names.
    const isAlone = !parsed.given.some((other) => other !== match && other.word.index === match.word.index);
    if (isAlone) named.add(match.word.index);
    // Another one of the same option is not the one that the pattern spells out.
    if (want.values.length > 0 && found.length > 1) return undefined;
    for (const [index, value] of match.values.entries()) {
      const isSpelled = want.values[index] !== undefined && !want.values[index]?.text.includes('*');
      if (want.values[index] !== undefined) matched.add(value.index);
      if (isSpelled && (isAlone || !match.isAttached)) named.add(value.index);
      else named.delete(value.index);
    }
  }
  const isComplete = (given: Given): boolean => wanted.given.some(({ option }) => option.first === given.option.first);
  if (!isOpen && !parsed.given.every(isComplete)) return undefined;
  const isCommandNamed = beyond.length === 0 || wanted.path.length > 1 || wantedOperands.length > 0;
  return { named, matched, options, isProgramNamed: true, isCommandNamed, isSpelledOut: false, nested };
}

type CommandEffect = Effect & { kind: 'command' };

function wordFits(pattern: string, word: string): boolean {
  return compileNameGlob(pattern).matches(word) && (!pattern.includes('*') || isPlainWord(word, pattern));
}

/** For deny and ask rules: whether the command, read as loosely as possible, has all that the pattern names. */
export function fitsLooselyByMeaning(
  pattern: CommandPattern,
  program: string,
  argv: readonly string[],
  table: ProgramTable = PROGRAM_TABLE,
): boolean {
  const entry = table.find(program);
  if (entry === undefined) return false;
  const wantedReadings = readingsOf(pattern, table).filter(({ parsed }) => parsed.entry === entry || parsed.path[0] === entry.name);
  if (wantedReadings.length === 0) return false;
  const parsed = parseWords(entry, argv, true);
  if ('reason' in parsed) return false;
  return wantedReadings.some(({ parsed: wanted }) => {
    if (!wanted.path.every((name, index) => name === parsed.path[index])) return false;
    const operands = [...parsed.path.slice(wanted.path.length), ...[...parsed.operands, ...parsed.dashed].map(({ text }) => text)];
    const wantedOperands = [...wanted.operands, ...wanted.dashed];
    if (!wantedOperands.every(({ text }, index) => operands[index] !== undefined && compileNameGlob(text).matches(operands[index] ?? '')))
      return false;
    if (!pattern.isOpen && operands.length !== wantedOperands.length) return false;
    return wanted.given.every((want) =>
      parsed.given.some(
        ({ option, values }) =>
          option.first === want.option.first &&
          want.values.every((value, index) => compileNameGlob(value.text).matches(values[index]?.text ?? '')),
      ),
    );
  });
}
