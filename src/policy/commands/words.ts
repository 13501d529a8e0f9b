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

/** What `$PWD` stands for, undefined if the line may be in one of several directories; and whether the word is only printed. */
export type WordContext = { readonly pwd: string | undefined; readonly isPrinted?: boolean };

export function readWord(word: Word, place: Place, context: WordContext): ReadWord {
  const { parts, text } = word;
  if (parts === undefined) {
    const home = tilde(text, place);
    if (home === undefined) return { text: word.value, opaque: bareTrouble(text) };
    const isPlain = /^~\/[\w@%+=:,./-]*$|^~$/.test(text) && place.home !== undefined;
    return { text: home, opaque: isPlain ? bareTrouble(text.slice(1)) : 'a home directory (~)' };
  }
  let value = '';
  let opaque: string | undefined;
  for (const [index, part] of parts.entries()) {
    const [expanded, trouble] = readPart(part, place, context, index);
    value += expanded;
    opaque ??= trouble;
  }
  // zsh expands a tilde after empty quotes.
  if (/^(?:''|"")+~/.test(text)) opaque ??= 'a home directory (~)';
  return { text: value, opaque: opaque ?? bareTrouble(text.replace(/'[^']*'|"[^"]*"/g, 'x')) };
}

function readPart(part: WordPart, place: Place, context: WordContext, index: number): readonly [string, string | undefined] {
  switch (part.type) {
    case 'Literal': {
      const home = index === 0 ? tilde(part.text, place) : undefined;
      return home === undefined ? [part.value, undefined] : [home, 'a home directory (~)'];
    }
    case 'SingleQuoted':
      // In fish a backslash escapes the closing quote and another backslash, so the word could be a different one there.
      return [part.value, /\\(\\|$)/.test(part.value) ? 'a quote that shells read differently' : undefined];
    case 'DoubleQuoted':
    case 'LocaleString': {
      let value = '';
      let trouble = REASONS[part.type] ?? (/(?:^|[^\\])\$[=~^+:]/.test(part.text) ? 'a word that zsh expands' : undefined);
      for (const [at, child] of part.parts.entries()) {
        const isKnown = part.type === 'DoubleQuoted' && isKnownVariable(child.text, place, context);
        value += child.type === 'Literal' ? child.value : known(child.text, place, context);
        if (child.type !== 'Literal' && !isKnown) trouble ??= REASONS[child.type];
        // zsh takes `"$HOME:h"` and `"$HOME[1]"` for a part of the value.
        if (child.type === 'SimpleExpansion' && /^[:[]/.test(part.parts[at + 1]?.text ?? '')) trouble ??= 'a word that zsh expands';
      }
      return [value, trouble];
    }
    case 'AnsiCQuoted':
    case 'Glob':
      return [part.value, REASONS[part.type]];
    default:
      return [known(part.text, place, context), REASONS[part.type] ?? 'something the shell puts in'];
  }
}

const VARIABLE = /^\$(?:(HOME|PWD)|\{(HOME|PWD)\})$/;

function known(text: string, place: Place, { pwd }: WordContext): string {
  const name = VARIABLE.exec(text);
  if (name === null) return text;
  return ((name[1] ?? name[2]) === 'HOME' ? place.home : (pwd ?? place.cwd)) ?? text;
}

// In double quotes they are one word in every shell.
function isKnownVariable(text: string, place: Place, { pwd, isPrinted }: WordContext): boolean {
  if (text === '$?') return isPrinted === true;
  const name = VARIABLE.exec(text);
  return name !== null && ((name[1] ?? name[2]) === 'HOME' ? place.home : pwd) !== undefined;
}

function tilde(text: string, place: Place): string | undefined {
  if (!text.startsWith('~')) return undefined;
  const isOwn = text === '~' || text.startsWith('~/');
  return isOwn && place.home !== undefined ? place.home + text.slice(1) : text;
}

// What other Bash-like shells expand in an unquoted word and Bash does not: zsh's `=ls`, a tilde after `=` or `:`.
function bareTrouble(text: string): string | undefined {
  if (text.startsWith('=')) return 'a word that zsh expands';
  // fish before 3.0 redirects errors to the file after it, zsh can be set to take it for a pattern.
  if (text.startsWith('^')) return 'a word that shells read differently';
  // `$=x`, `$~x`, `$^x`, `$+x`
  if (/\$[^\s'"\\]/.test(text.replace(/\\./gs, ''))) return 'a variable';
  if (/[=:]~/.test(text)) return 'a home directory (~)';
  // In fish `\x2e` is a dot and `\n` a new line.
  if (/\\[A-Za-z0-9]/.test(text.replaceAll('\\\\', ''))) return 'a backslash that shells read differently';
  return /[*?[\]{}]/.test(text.replace(/\\./gs, '')) ? 'a file name pattern' : undefined;
}
