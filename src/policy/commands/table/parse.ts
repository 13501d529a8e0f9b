// Splits the words of a command into subcommands, options with their values, and operands, as the program itself would.
import { abbreviated, type Entry, type Option, type ProgramTable } from './lookup.ts';

export type Word = { readonly text: string; readonly index: number };
export type Given = {
  readonly option: Option;
  readonly word: Word;
  readonly values: readonly Word[];
  /** A value that is part of the option's own word. */
  readonly isAttached: boolean;
};

export type Parsed = {
  readonly entry: Entry;
  /** The program and its subcommands, by the names the table has for them. */
  readonly path: readonly string[];
  readonly given: readonly Given[];
  readonly operands: readonly Word[];
  /** After `--`. */
  readonly dashed: readonly Word[];
  /** Words that an option took as a whole command line: `find -exec`, `fd -x`. */
  readonly commands: readonly (readonly Word[])[];
};

export type Unparsed = { readonly word: string; readonly reason: string };

/** Where system programs are. Anywhere else a program of a known name can be any other. */
const SYSTEM = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/;

/** The entry of the program; undefined if the table does not have it. */
export function entryOf(table: ProgramTable, name: string): Entry | undefined {
  return table.find(name.includes('/') ? (SYSTEM.exec(name)?.[1] ?? '') : name);
}

type State = {
  readonly isLoose: boolean;
  readonly path: string[];
  readonly given: Given[];
  readonly operands: Word[];
  readonly dashed: Word[];
  readonly commands: Word[][];
};

/**
 * Reads the words by the table. Strictly, the first word that the table does not explain ends it. Loosely, for denies and for patterns,
 * everything is kept that can be recognised: abbreviations count as each option they may mean, and unknown options as flags.
 */
export function parseWords(entry: Entry, argv: readonly string[], isLoose: boolean): Parsed | Unparsed {
  const words = argv.slice(1).map((text, index): Word => ({ text, index: index + 1 }));
  const state: State = { isLoose, path: [entry.name], given: [], operands: [], dashed: [], commands: [] };
  return parseEntry(entry, words, state);
}

function parseEntry(entry: Entry, words: readonly Word[], state: State): Parsed | Unparsed {
  if (entry.commands.size === 0) {
    const wrong = parseConvention(entry, words, state);
    return wrong ?? { entry, ...state };
  }
  // Options, then the subcommand.
  let at = 0;
  while (at < words.length) {
    const word = words[at] as Word;
    if (!word.text.startsWith('-') || word.text === '-') break;
    if (word.text === '--') {
      if (!state.isLoose) return { word: '--', reason: 'in front of a subcommand' };
      at++;
      break;
    }
    const next = readOption(entry, entry.before, words, at, state);
    if (typeof next !== 'number') return next;
    at = next;
  }
  const word = words[at];
  if (word === undefined) return { entry, ...state };
  const command = entry.commands.get(word.text);
  if (command !== undefined) {
    state.path.push(command.name);
    return parseEntry(command, words.slice(at + 1), state);
  }
  if (entry.data.operands === undefined && !state.isLoose) return { word: word.text, reason: 'no subcommand that is known' };
  const wrong = parseConvention(entry, words.slice(at), state);
  return wrong ?? { entry, ...state };
}

function parseConvention(entry: Entry, words: readonly Word[], state: State): Unparsed | undefined {
  switch (entry.parse) {
    case 'words':
      state.operands.push(...words);
      return undefined;
    case 'find':
      return parseFind(entry, words, state);
    case 'tar':
      return parseTar(entry, words, state);
    default:
      return parseOptions(entry, words, state);
  }
}

function parseOptions(entry: Entry, words: readonly Word[], state: State): Unparsed | undefined {
  const stopsEarly = entry.parse === 'posix' || entry.parse === 'first' || entry.parse === 'goflag';
  let at = 0;
  while (at < words.length) {
    const word = words[at] as Word;
    if (word.text === '--') {
      state.dashed.push(...words.slice(at + 1));
      return undefined;
    }
    if (word.text.startsWith('-') && word.text !== '-') {
      const next = readOption(entry, entry.options, words, at, state);
      if (typeof next !== 'number') return next;
      at = next;
      continue;
    }
    if (entry.parse === 'keys' && word.text.includes('=')) {
      const wrong = readKey(entry, word, state);
      if (wrong !== undefined) return wrong;
    } else if (stopsEarly) {
      state.operands.push(...words.slice(at));
      return undefined;
    } else state.operands.push(word);
    at++;
  }
  return undefined;
}

/** `if=x`: the table has `if=`. */
function readKey(entry: Entry, word: Word, state: State): Unparsed | undefined {
  const equals = word.text.indexOf('=');
  const option = entry.options.get(word.text.slice(0, equals));
  if (option !== undefined)
    state.given.push({ option, word, values: [{ text: word.text.slice(equals + 1), index: word.index }], isAttached: true });
  else if (!state.isLoose) return { word: word.text, reason: 'a setting that is not known' };
  return undefined;
}

// Returns the index of the next word.
function readOption(
  entry: Entry,
  options: ReadonlyMap<string, Option>,
  words: readonly Word[],
  at: number,
  state: State,
): number | Unparsed {
  const word = words[at] as Word;
  const equals = word.text.indexOf('=');
  const name = equals === -1 ? word.text : word.text.slice(0, equals);
  const found = options.get(name) ?? (entry.parse === 'goflag' ? goFlag(options, name) : undefined);
  if (found !== undefined && (equals === -1 || name.length > 2)) return take(entry, found, words, at, equals, state);
  const isDigits = /^-\d+$/.test(word.text) && (entry.parse === 'git' || entry.data.digits === true);
  if (isDigits) return at + 1;
  if (!word.text.startsWith('--') && entry.parse !== 'goflag') return readCluster(entry, options, words, at, state);
  if (state.isLoose) {
    const likely = abbreviated(options, name);
    for (const option of likely) state.given.push({ option, word, values: attached(word, equals), isAttached: equals !== -1 });
    const takesNext = equals === -1 && likely.length > 0 && likely.every(({ takes }) => takes === 'value');
    if (likely.length === 0)
      state.given.push({ option: unknownOption(name), word, values: attached(word, equals), isAttached: equals !== -1 });
    return takesNext ? at + 2 : at + 1;
  }
  const [likely] = abbreviated(options, name);
  return {
    word: word.text,
    reason: likely === undefined ? 'an option that is not known' : `as an abbreviation it would be ${likely.first}`,
  };
}

const unknownOption = (name: string): Option => ({ first: name, takes: 'nothing', types: ['none'] });

const goFlag = (options: ReadonlyMap<string, Option>, name: string): Option | undefined =>
  options.get(name.startsWith('--') ? name.slice(1) : `-${name}`);

const attached = (word: Word, equals: number): Word[] => (equals === -1 ? [] : [{ text: word.text.slice(equals + 1), index: word.index }]);

// An option spelled as a whole word, with or without `=value`.
function take(entry: Entry, option: Option, words: readonly Word[], at: number, equals: number, state: State): number | Unparsed {
  const word = words[at] as Word;
  if (option.types[0] === 'command') return takeCommand(entry, option, words, at, state);
  if (option.takes === 'nothing') {
    const isSwitch = (entry.parse === 'cobra' || entry.parse === 'goflag') && /=(true|false)$/.test(word.text);
    if (equals !== -1 && !isSwitch && !state.isLoose) return { word: word.text, reason: `${option.first} takes no value` };
    state.given.push({ option, word, values: [], isAttached: false });
    return at + 1;
  }
  if (option.takes === 'attached') {
    state.given.push({ option, word, values: attached(word, equals), isAttached: equals !== -1 });
    return at + 1;
  }
  const own = attached(word, equals);
  const next = words.slice(at + 1, at + 1 + option.types.length - own.length);
  const values = [...own, ...next];
  if (values.length < option.types.length && !state.isLoose) return { word: word.text, reason: 'its value is missing' };
  state.given.push({ option, word, values, isAttached: own.length > 0 });
  return at + 1 + next.length;
}

// `-exec cmd … ;`, `-exec cmd … {} +`, `fd -x cmd …`, `python -m module …`: a command line of its own.
function takeCommand(entry: Entry, option: Option, words: readonly Word[], at: number, state: State): number | Unparsed {
  const rest = words.slice(at + 1);
  const isFind = entry.parse === 'find';
  const end = rest.findIndex(({ text }, index) => text === ';' || (isFind && text === '+' && rest[index - 1]?.text === '{}'));
  if (isFind && end === -1 && !state.isLoose) return { word: option.first, reason: 'the end of its command is missing' };
  const command = end === -1 ? rest : rest.slice(0, end);
  if (command.length === 0 && !state.isLoose) return { word: option.first, reason: 'its command is missing' };
  state.given.push({ option, word: words[at] as Word, values: command.slice(0, 1), isAttached: false });
  if (command.length > 0) state.commands.push(command);
  return at + 1 + (end === -1 ? rest.length : end + 1);
}

// `-la`, `-n5`, `-abc value`.
function readCluster(
  entry: Entry,
  options: ReadonlyMap<string, Option>,
  words: readonly Word[],
  at: number,
  state: State,
): number | Unparsed {
  const word = words[at] as Word;
  for (let index = 1; index < word.text.length; index++) {
    const letter = `-${word.text[index]}`;
    const option = options.get(letter);
    if (option === undefined) {
      if (!state.isLoose) return { word: word.text, reason: `the option ${letter} is not known` };
      state.given.push({ option: unknownOption(letter), word, values: [], isAttached: false });
      continue;
    }
    if (option.types[0] === 'command' && index === word.text.length - 1) return takeCommand(entry, option, words, at, state);
    if (option.types[0] === 'command' && !state.isLoose) return { word: word.text, reason: 'a command attached to its option' };
    if (option.takes === 'nothing') {
      state.given.push({ option, word, values: [], isAttached: false });
      continue;
    }
    const rest = word.text.slice(index + 1);
    if (option.takes === 'attached') {
      state.given.push({ option, word, values: rest === '' ? [] : [{ text: rest, index: word.index }], isAttached: rest !== '' });
      return at + 1;
    }
    // Some programs take `-n=5` as 5, others as "=5".
    if (rest.startsWith('=') && !state.isLoose) return { word: word.text, reason: 'programs differ in how they read it' };
    const own = rest === '' ? [] : [{ text: rest, index: word.index }];
    const next = words.slice(at + 1, at + 1 + option.types.length - own.length);
    if (own.length + next.length < option.types.length && !state.isLoose) return { word: word.text, reason: 'its value is missing' };
    state.given.push({ option, word, values: [...own, ...next], isAttached: own.length > 0 });
    return at + 1 + next.length;
  }
  return at + 1;
}

// Starting points, then an expression. Options of find itself (-H, -L, -P) come first.
function parseFind(entry: Entry, words: readonly Word[], state: State): Unparsed | undefined {
  let at = 0;
  while (at < words.length) {
    const word = words[at] as Word;
    if (/^(\(|\)|!|,)$/.test(word.text)) at++;
    else if (word.text.startsWith('-') && word.text !== '-') {
      const option = entry.options.get(word.text);
      if (option === undefined) {
        if (!state.isLoose) return { word: word.text, reason: 'a test or action that is not known' };
        state.given.push({ option: unknownOption(word.text), word, values: [], isAttached: false });
        at++;
      } else {
        const next = take(entry, option, words, at, -1, state);
        if (typeof next !== 'number') return next;
        at = next;
      }
    } else {
      // find itself refuses a starting point after the expression; tree, which reads its words the same way, does not.
      state.operands.push(word);
      at++;
    }
  }
  return undefined;
}

// The first word may be a bundle of letters without a dash, whose values follow in order.
function parseTar(entry: Entry, words: readonly Word[], state: State): Unparsed | undefined {
  const [bundle] = words;
  if (bundle === undefined || bundle.text.startsWith('-')) return parseOptions(entry, words, state);
  let at = 1;
  for (const letter of bundle.text) {
    const option = entry.options.get(`-${letter}`);
    if (option === undefined) {
      if (!state.isLoose) return { word: bundle.text, reason: `the option -${letter} is not known` };
      continue;
    }
    const count = option.takes === 'value' ? option.types.length : 0;
    const values = words.slice(at, at + count);
    if (values.length < count && !state.isLoose) return { word: bundle.text, reason: `the value of -${letter} is missing` };
    state.given.push({ option, word: bundle, values, isAttached: false });
    at += count;
  }
  return parseOptions(entry, words.slice(at), state);
}
