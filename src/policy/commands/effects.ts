// What a command does, by the program table: every word explained, or the first one that is not.
import type { Effect, FileEffect, Meaning, Origin } from './effect.ts';
import type { Operands, Program, WalkModifier, WordType } from './program.ts';
import { PROGRAM_TABLE } from './programs/index.ts';
import { RUNNER_OPTIONS } from './programs/runner-options.ts';
import { createTable, type Entry, type ProgramTable } from './table/lookup.ts';
import { entryOf, type Given, type Parsed, parseWords, type Word } from './table/parse.ts';
import { addFile, isFileKind, NotUnderstood, type Reading, readValue, state } from './word-effects.ts';

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
    changesPathspecs: entry.data.changesPathspecs === true,
    opensAddresses: levels.some(({ data }) => data.opensAddresses === true),
    entered: [],
    nested: (words) => meaningOf(words, { table, depth: depth + 1 }),
  };
  if (entry.data.passes === 'script') refuseShellCode(argv);
  for (const one of given) readGiven(reading, one, isGiven);
  for (const command of parsed.commands) addCommand(reading, command, 'option');
  readOperands(reading, isGiven);
  if (entry.data.comparesPaths) addComparedPaths(reading);
  if (entry.data.keepsNames) addKeptNames(reading, isGiven('-T'));
  if (entry.data.renames) addRenamed(reading, entry.data.renames);
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
  const walks = walksOf(levels, given);
  const known = levels.find(({ data }) => data.types)?.data.types;
  const types = known === undefined ? [] : valuesOf(({ first }) => first === '-t').map((type) => known[type]);
  const globs = valuesOf(({ types: [type] }) => type === 'glob');
  return {
    walks,
    globs,
    // Of a type that is not known, any file may be one.
    includes: [...valuesOf(({ first }) => first === '--include'), ...types.flatMap((names) => names ?? ['*'])],
    isWidened: given.some(({ option }) => option.types.includes('sets:hidden')),
    // A glob finds hidden files: `rg -g '*.sh'` reads `.env.sh`.
    seesHidden: walks.has('hidden') || globs.some((glob) => !glob.startsWith('!')),
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
  // `npm run -- test` runs the script `test`.
  if (isPassed && operands.length === 0 && form?.first?.[0]?.startsWith('project:'))
    throw new NotUnderstood('--', 'in front of the name of a script');
  if (form !== undefined) assign(reading, form, operands, isGiven);
  if (isPassed) readPassed(reading, parsed.dashed);
  else if (form?.dashed !== undefined)
    for (const word of parsed.dashed) readValue(reading, turned(entry, form.dashed, isGiven), word, 'operand', undefined);
  if (entry.parse === 'gnu' && form !== undefined) readAsOperands(reading, form, isGiven);
}

function addComparedPaths({ parsed, effects, entered }: Reading): void {
  const words = [...parsed.operands, ...parsed.dashed];
  if (words.length !== 2) return;
  const walk = { kind: 'walk', entered, by: 'operand', walks: new Set<WalkModifier>(['hidden', 'ignored']), seesHidden: true } as const;
  for (const { text, index } of words) effects.push({ ...walk, path: text, word: index, isWithoutRepository: true });
}

// The target may be a directory. Which files a copied directory holds is not known.
function addKeptNames(reading: Reading, isOntoTarget: boolean): void {
  const files = reading.effects.filter((effect): effect is FileEffect => 'path' in effect && effect.by !== 'unasked');
  const targets = files.filter(({ kind, option }) => kind === 'write' && (option === undefined || option === '-t'));
  for (const source of files.filter(({ kind, by }) => kind !== 'write' && by === 'operand'))
    for (const target of targets) {
      const name = source.path.replace(/\/+$/, '').split('/').at(-1) ?? '';
      const isContent = name === '' || name === '.' || name === '..' || isOntoTarget;
      if (!isContent) reading.effects.push({ ...target, path: `${target.path}/${name}` });
      // It also writes through links that are in the copy already.
      if (!isContent && source.kind === 'walk')
        reading.effects.push({ ...target, kind: 'walk', path: `${target.path}/${name}`, walks: new Set(['links']) });
      else if (isContent && source.kind === 'walk') reading.effects.push({ ...target, kind: 'unpack' });
    }
}

// `gzip -d package.json.gz` writes package.json. A name ending in `.tgz` becomes one in `.tar`, which makes nothing run.
function addRenamed({ effects, parsed }: Reading, { suffixes, option }: NonNullable<Program['renames']>): void {
  const own = parsed.given.filter(({ option: { first } }) => first === option).flatMap(({ values }) => values.map(({ text }) => text));
  for (const effect of effects.filter((one): one is FileEffect => one.kind === 'modify')) {
    const { path } = effect;
    const stripped = [...own, ...suffixes].filter((suffix) => path.toLowerCase().endsWith(suffix.toLowerCase()));
    const names = [...stripped.map((suffix) => path.slice(0, path.length - suffix.length)), path + (own.at(-1) ?? suffixes[0])];
    for (const name of new Set(names)) effects.push({ ...effect, kind: 'write', path: name });
  }
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
  for (const { word, values, isAttached } of reading.parsed.given)
    for (const { text, index } of isAttached ? [word] : [word, ...values])
      if (index > start && (text.startsWith('-') ? text.includes('/') : /[./]/.test(text)))
        addFile(reading, type, text, index, 'operand', undefined);
}

function turned(entry: Entry, type: WordType, isGiven: (name: string) => boolean): WordType {
  for (const [option, types] of Object.entries(entry.data.turns ?? {})) if (isGiven(option)) return types[type] ?? type;
  return type;
}

// Words after `--` go to the project's script, whose program is not known: only what test runners and linters agree on is understood.
const RUNNER = createTable([RUNNER_OPTIONS]);

function readPassed(reading: Reading, words: readonly Word[]): void {
  const meaning = meaningOf([RUNNER_OPTIONS.name, ...words.map(({ text }) => text)], { table: RUNNER });
  if (!meaning.isUnderstood) throw new NotUnderstood(meaning.word, `${meaning.reason} (it goes to the project's script)`);
  const index = (word: number): number => words[word - 1]?.index ?? 0;
  for (const effect of meaning.effects) reading.effects.push({ ...effect, word: index(effect.word) });
}

// npm before 8.12 and older versions of pnpm put each word in double quotes, where the shell still expands it.
function refuseShellCode(argv: readonly string[]): void {
  const code = argv.find((word) => /\$[({]|`|\\"/.test(word));
  if (code !== undefined) throw new NotUnderstood(code, 'some package managers hand it to a shell, which would run it');
}

function addCommand(reading: Reading, words: readonly Word[], by: Origin): void {
  const argv = words.map(({ text }) => text);
  const { entry } = reading.parsed;
  if (entry.data.stdin === 'names') throw new NotUnderstood(argv[0] ?? '', 'the rest of its words come from standard input');
  const { starts } = entry.data;
  if (starts !== undefined && !starts.includes(argv[0] ?? ''))
    throw new NotUnderstood(argv[0] ?? '', `${entry.name} runs whatever has that name`);
  // find and fd put the names they find into it, among them links that lead elsewhere.
  const isFilledIn = by === 'option' && entry.parse !== 'first';
  const meaning: Meaning = isFilledIn
    ? { isUnderstood: false, isKnown: true, word: argv[0] ?? '', reason: 'its files are those that the search finds', manual: entry.manual }
    : reading.nested(argv);
  reading.effects.push({ kind: 'command', meaning, argv, word: words[0]?.index ?? 0, by });
}
