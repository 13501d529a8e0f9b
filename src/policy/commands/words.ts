// One word of a shell line: what it says, and whether it says exactly that to the program.
import type { Word, WordPart } from 'unbash';
import type { Place } from '../actions/action.ts';

export type ReadWord = {
  /** Quoting removed. Where the shell would put something in: `~`, `$HOME` and `$PWD` as we know them, anything else as written. */
  readonly text: string;
  /** Why the program may get something else; undefined for a literal. */
  readonly opaque: string | undefined;
};

const REASONS: Partial<Record<WordPart['type'], string>> = {
  Glob: 'a file name pattern',
  ExtendedGlob: 'a file name pattern',
  BraceExpansion: 'a brace expansion',
  SimpleExpansion: 'a variable',
  ParameterExpansion: 'a variable',
  CommandExpansion: 'a command substitution',
  ArithmeticExpansion: 'an arithmetic expansion',
  ProcessSubstitution: 'a process substitution',
  AnsiCQuoted: "a $'...' string",
  LocaleString: 'a $"..." string',
};

export function readWord(word: Word, place: Place): ReadWord {
  const { parts, text } = word;
  if (parts === undefined) {
    const home = tilde(text, place);
    if (home !== undefined) return { text: home, opaque: 'a home directory (~)' };
    return { text: word.value, opaque: bareTrouble(text) };
  }
  let said = '';
  let opaque: string | undefined;
  for (const [index, part] of parts.entries()) {
    const [value, trouble] = readPart(part, place, index);
    said += value;
    opaque ??= trouble;
  }
  return { text: said, opaque: opaque ?? bareTrouble(text.replace(/'[^']*'|"[^"]*"/g, 'x')) };
}

function readPart(part: WordPart, place: Place, index: number): readonly [string, string | undefined] {
  switch (part.type) {
    case 'Literal': {
      const home = index === 0 ? tilde(part.text, place) : undefined;
      return home === undefined ? [part.value, undefined] : [home, 'a home directory (~)'];
    }
    case 'SingleQuoted':
      // In fish a backslash escapes the closing quote, so what is one word to Bash could be the end of one there.
      return [part.value, part.value.endsWith('\\') ? 'a quote that shells read differently' : undefined];
    case 'DoubleQuoted':
    case 'LocaleString': {
      let value = '';
      let trouble = REASONS[part.type];
      for (const child of part.parts) {
        value += child.type === 'Literal' ? child.value : known(child.text, place);
        if (child.type !== 'Literal') trouble ??= REASONS[child.type];
      }
      return [value, trouble];
    }
    case 'AnsiCQuoted':
    case 'Glob':
      return [part.value, REASONS[part.type]];
    default:
      return [known(part.text, place), REASONS[part.type] ?? 'something the shell puts in'];
  }
}

function known(text: string, place: Place): string {
  const name = /^\$(?:(\w+)|\{(\w+)\})$/.exec(text);
  const variable = name?.[1] ?? name?.[2];
  if (variable === 'HOME') return place.home ?? text;
  return variable === 'PWD' ? place.cwd : text;
}

function tilde(text: string, place: Place): string | undefined {
  if (!text.startsWith('~')) return undefined;
  const isOwn = text === '~' || text.startsWith('~/');
  return isOwn && place.home !== undefined ? place.home + text.slice(1) : text;
}

// What other shells of the Bash family expand in an unquoted word, though Bash does not: zsh's `=ls`, a tilde behind `=` or `:`.
function bareTrouble(text: string): string | undefined {
  if (text.startsWith('=')) return 'a word that zsh expands';
  if (/[=:]~/.test(text)) return 'a home directory (~)';
  return /[*?[\]{}]/.test(text.replace(/\\./gs, '')) ? 'a file name pattern' : undefined;
}
