// One word of a shell line: its text, and whether the program receives exactly that.
import type { Word, WordPart } from 'unbash';
import type { Place } from '../actions/action.ts';

export type ReadWord = {
  /** Without quotes. `~`, `$HOME` and `$PWD` are expanded as far as they are known; other expansions stay as written. */
  readonly text: string;
  /** Why the program may receive something else; undefined for a literal. */
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
  let value = '';
  let opaque: string | undefined;
  for (const [index, part] of parts.entries()) {
    const [expanded, trouble] = readPart(part, place, index);
    value += expanded;
    opaque ??= trouble;
  }
  return { text: value, opaque: opaque ?? bareTrouble(text.replace(/'[^']*'|"[^"]*"/g, 'x')) };
}

function readPart(part: WordPart, place: Place, index: number): readonly [string, string | undefined] {
  switch (part.type) {
    case 'Literal': {
      const home = index === 0 ? tilde(part.text, place) : undefined;
      return home === undefined ? [part.value, undefined] : [home, 'a home directory (~)'];
    }
    case 'SingleQuoted':
      // In fish a backslash escapes the closing quote, so one word in Bash could end early there.
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

// What other Bash-like shells expand in an unquoted word and Bash does not: zsh's `=ls`, a tilde after `=` or `:`.
function bareTrouble(text: string): string | undefined {
  if (text.startsWith('=')) return 'a word that zsh expands';
  if (/[=:]~/.test(text)) return 'a home directory (~)';
  return /[*?[\]{}]/.test(text.replace(/\\./gs, '')) ? 'a file name pattern' : undefined;
}
