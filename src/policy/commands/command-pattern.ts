// `git status|diff ...`: the words of a command, with alternatives, wildcards inside a word, and `...` for any further words.
import { compileNameGlob, type NameGlob } from '../paths/name-glob.ts';

type Token = {
  /** The rule spells it out: it has no wildcard. */
  readonly isFixed: boolean;
  readonly choices: readonly NameGlob[];
};

export type CommandPattern = {
  readonly source: string;
  readonly tokens: readonly Token[];
  /** Ends in `...`. */
  readonly isOpen: boolean;
};

/** What a rule without `command` covers. */
export const ANY_COMMAND: CommandPattern = { source: '...', tokens: [], isOpen: true };

export function compileCommand(source: string): CommandPattern | { readonly wrong: string; readonly hint?: string } {
  const words = split(source);
  if (words === undefined) return { wrong: 'a quote is not closed' };
  const isOpen = words.at(-1) === '...';
  const fixed = isOpen ? words.slice(0, -1) : words;
  if (fixed.includes('...')) return { wrong: '"..." stands for any further words, so it can only be the last' };
  if (fixed.length === 0) return { wrong: 'a command pattern begins with the name of a program', hint: 'leave "command" out to mean all' };
  return { source, isOpen, tokens: fixed.map(compileToken) };
}

function compileToken(word: string): Token {
  const choices = word.split('|');
  return { isFixed: !word.includes('*'), choices: choices.map((choice) => compileNameGlob(choice)) };
}

// Quotes only keep blanks inside a word; their content is still a pattern.
function split(source: string): string[] | undefined {
  const words: string[] = [];
  let word = '';
  let isInWord = false;
  let quote = '';
  for (const character of source) {
    if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      isInWord = true;
    } else if (/\s/.test(character)) {
      if (isInWord) words.push(word);
      [word, isInWord] = ['', false];
    } else {
      word += character;
      isInWord = true;
    }
  }
  if (isInWord) words.push(word);
  return quote === '' ? words : undefined;
}

/** For allow rules: word by word. A wildcard never matches an option: `git * main` must not cover `git -c core.pager=x main`. */
export function fitsExactly({ tokens, isOpen }: CommandPattern, argv: readonly string[]): boolean {
  if (argv.length < tokens.length || (!isOpen && argv.length > tokens.length)) return false;
  return tokens.every(({ choices }, index) => {
    const word = argv[index] ?? '';
    return choices.some((choice) => choice.matches(word) && (!choice.source.includes('*') || isPlainWord(word, choice.source)));
  });
}

/** Whether a wildcard may stand for the word: not for an option, nor for a file in another directory. */
export function isPlainWord(word: string, source: string): boolean {
  if (word.startsWith('-') && !source.startsWith('-')) return false;
  return !word.split('/').includes('..') && slashes(word) === slashes(source); // a wildcard never crosses into another directory
}

const slashes = (text: string): number => text.split('/').length;

/** Whether the pattern leaves the word at `index` open: after its end, or under a wildcard. */
export function isFree({ tokens }: CommandPattern, index: number): boolean {
  return !(tokens[index]?.isFixed ?? false);
}

/** For deny and ask rules: matches the program's name in any directory, and options in any order (`rm -r -f` is `rm -rf`). */
export function fitsLoosely(
  pattern: CommandPattern,
  program: string,
  argv: readonly string[],
  globalValues: ReadonlyMap<string, readonly string[]>,
): boolean {
  const [name] = pattern.tokens;
  if (name === undefined) return true;
  const isNamed = name.choices.some((choice) => choice.matches(argv[0] ?? '') || choice.matches(program));
  if (!isNamed) return false;
  const wanted = pattern.tokens.slice(1);
  const given = argv.slice(1);
  const inOrder = wanted.every(
    ({ choices }, index) => given.length > index && choices.some((choice) => choice.matches(given[index] ?? '')),
  );
  if (inOrder && (pattern.isOpen || given.length === wanted.length)) return true;
  return pattern.isOpen && wanted.length > 0 && fitsInAnyOrder(wanted, given, globalValues.get(program) ?? []);
}

function fitsInAnyOrder(wanted: readonly Token[], given: readonly string[], valueOptions: readonly string[]): boolean {
  const isOption = ({ choices }: Token) => choices.every(({ source }) => source.startsWith('-'));
  const operands = given.filter((word, index) => !word.startsWith('-') && !valueOptions.includes(given[index - 1] ?? ''));
  const named = wanted.filter((token) => !isOption(token));
  if (
    !named.every(({ choices }, index) => operands[index] !== undefined && choices.some((choice) => choice.matches(operands[index] ?? '')))
  )
    return false;
  return wanted.filter(isOption).every(({ choices }) => choices.some(({ source }) => hasOption(given, source)));
}

function hasOption(given: readonly string[], option: string): boolean {
  if (option.startsWith('--')) return given.some((word) => word === option || word.startsWith(`${option}=`));
  if (given.includes(option)) return true;
  const letters = new Set(given.filter((word) => /^-[A-Za-z0-9]+$/.test(word)).flatMap((word) => [...word.slice(1)]));
  return /^-[A-Za-z0-9]+$/.test(option) && [...option.slice(1)].every((letter) => letters.has(letter));
}

/** `/usr/bin/sudo`, `SUDO.EXE` and `sudo` are the same program to a rule that denies it. */
export function programName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.(exe|cmd|bat|com)$/, '');
}
