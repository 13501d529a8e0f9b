// Globs over canonical paths: `$cwd/src/**`, `$home/.ssh/**`, `**/.env`.

import picomatch from 'picomatch';
import type { ActionPath } from '../actions/action.ts';
import { EXECUTABLE_CONFIG, EXECUTABLE_CONFIG_GLOBS } from './executable-config.ts';
import { nfc } from './path.ts';

// Globs as picomatch defines them. Its regular expressions take minutes on a long name with several wildcards, and a policy may come with a
// repository, so such globs are compared part by part in linear time.
export type Glob = (path: string) => boolean;
export type WrongGlob = { readonly wrong: string; readonly hint?: string };

const MAX_ALTERNATIVES = 256;

export function compileGlob(glob: string, { ignoreCase = false } = {}): Glob | WrongGlob {
  if (/[*+]\(/.test(glob)) return { wrong: 'a group that repeats is not allowed in a glob', hint: 'alternatives are written {a,b}' };
  const alternatives = expand(glob);
  if (alternatives === undefined) return { wrong: `a glob may stand for at most ${MAX_ALTERNATIVES} alternatives` };
  try {
    if (alternatives.every(isQuick)) return quick(glob, ignoreCase);
    const all = alternatives.map((alternative) => compileParts(alternative, ignoreCase));
    return (path) => {
      const parts = path.split('/');
      return all.some((wanted) => partsFit(wanted, parts));
    };
  } catch {
    return { wrong: 'this is no glob' };
  }
}

function quick(glob: string, ignoreCase: boolean): Glob {
  const regex = picomatch.makeRe(glob, { dot: true, nocase: ignoreCase, nonegate: true, strictBrackets: true });
  return (path) => regex.test(path);
}

/** At most one wildcard in each part, and at most one `**` that is not the last part. */
function isQuick(glob: string): boolean {
  const parts = glob.split('/');
  const deep = parts.slice(0, -1).filter((part) => part === '**');
  return deep.length <= 1 && parts.every((part) => part === '**' || (part.match(/\*+|[@!?]\(/g) ?? []).length <= 1);
}

/** Expands braces; undefined if there are too many results. A brace that is not closed, or has no comma, is literal. */
function expand(glob: string): string[] | undefined {
  let open = [glob];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      const braces = /^((?:[^{\\]|\\.)*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(one) ?? /^(.*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(one);
      if (!braces) done.push(one);
      else for (const choice of (braces[2] ?? '').split(',')) next.push(`${braces[1]}${choice}${braces[3]}`);
      if (done.length + next.length > MAX_ALTERNATIVES) return undefined;
    }
    open = next;
  }
  return done;
}

const STAR = Symbol('*');
type Token = typeof STAR | ((character: string) => boolean);
type Part = '**' | readonly Token[];

function compileParts(glob: string, ignoreCase: boolean): readonly Part[] {
  return glob.split('/').map((part) => (part === '**' ? part : compileTokens(part, ignoreCase)));
}

function compileTokens(part: string, ignoreCase: boolean): Token[] {
  const found = part.match(/\*+|\[[!^]?\]?[^\]]*\]|[^*]/g) ?? [];
  return found.map((token): Token => {
    if (token.startsWith('*')) return STAR;
    if (token === '?') return () => true;
    if (token.length > 1) {
      const characters = new RegExp(token.replaceAll('\\', '\\\\'), ignoreCase ? 'i' : '');
      return (character) => characters.test(character);
    }
    // Other picomatch syntax, or an unbalanced brace or bracket: do not guess.
    if (/[()[\]{}\\!]/.test(token)) throw new Error('not plain');
    const wanted = ignoreCase ? token.toLowerCase() : token;
    return (character) => (ignoreCase ? character.toLowerCase() : character) === wanted;
  });
}

const partsFit = (wanted: readonly Part[], parts: readonly string[]): boolean =>
  fits(
    wanted,
    parts,
    (part) => part === '**',
    (part, text) => textFits(part as readonly Token[], text),
  );

// A part that is only `*` needs at least one character.
const textFits = (tokens: readonly Token[], text: string): boolean =>
  (text !== '' || tokens.length === 0) &&
  fits(
    tokens,
    [...text.split('')],
    (token) => token === STAR,
    (token, character) => (token as Exclude<Token, typeof STAR>)(character),
  );

/** Only the last wildcard needs to be retried: anything an earlier one could match more of, the last one can match as well. */
function fits<Wanted, Given>(
  wanted: readonly Wanted[],
  given: readonly Given[],
  isMany: (one: Wanted) => boolean,
  isOne: (one: Wanted, other: Given) => boolean,
): boolean {
  let at = 0;
  let many = -1;
  let from = 0;
  for (let index = 0; index < given.length; ) {
    const one = wanted[at];
    if (at < wanted.length && isMany(one as Wanted)) {
      many = at++;
      from = index;
    } else if (at < wanted.length && isOne(one as Wanted, given[index] as Given)) {
      at++;
      index++;
    } else if (many >= 0) {
      at = many + 1;
      index = ++from;
    } else return false;
  }
  while (at < wanted.length && isMany(wanted[at] as Wanted)) at++;
  return at === wanted.length;
}

export type Roots = { readonly cwd: string; readonly home: string | undefined };

export type PathGlob = {
  readonly source: string;
  /** For allow rules: case-sensitive. */
  matches(path: string, roots: Roots): boolean;
  /** For deny and ask rules: ignores case, because on many disks `.ENV` is the same file as `.env`. */
  touches(path: ActionPath, roots: Roots): boolean;
  /** The directory that every match is in; undefined if a match can be anywhere. */
  base(roots: Roots): string | undefined;
};

const MAX_LENGTH = 1000;
const ROOT = /^(\$cwd|\$home|~)(?=\/|$)/;

/** The compiled glob, or the reason why the text is not a usable one. */
export function compilePathGlob(source: string): PathGlob | WrongGlob {
  if (source === EXECUTABLE_CONFIG) return executableConfig();
  if (source.length > MAX_LENGTH) return { wrong: `a glob may have at most ${MAX_LENGTH} characters` };
  const root = ROOT.exec(source)?.[1];
  const isAnchored = root !== undefined || source.startsWith('/') || source.startsWith('**') || /^[A-Za-z]:\//.test(source);
  if (!isAnchored) return { wrong: 'a path starts with $cwd/, $home/, / or **/', hint: 'for a path in the project write $cwd/ before it' };
  if (source.slice(root?.length ?? 0).includes('$'))
    return { wrong: 'only $cwd and $home, and only at the beginning, stand for a directory' };
  if (source.split('/').includes('..')) return { wrong: 'a path is compared in its canonical form, so ".." never matches' };
  const rest = nfc(source.slice(root === undefined ? 0 : root.length + 1));
  const literal = longestLiteral(rest);
  const exact = compile(rest, false);
  const loose = compile(rest, true);
  if (typeof exact !== 'function') return exact;
  if (typeof loose !== 'function') return loose;
  // The root is compared as text: a directory with brackets in its name is not a pattern, and all sessions share one compilation.
  const below = (path: string, roots: Roots): string | undefined => {
    if (root === undefined) return path;
    const start = root === '$cwd' ? roots.cwd : roots.home;
    if (start === undefined || !path.startsWith(start)) return undefined;
    if (path.length === start.length) return '';
    return start === '/' ? path.slice(1) : path[start.length] === '/' ? path.slice(start.length + 1) : undefined;
  };
  const test = (match: (path: string) => boolean, path: string, roots: Roots): boolean => {
    const part = below(path, roots);
    if (part === undefined) return false;
    return part === '' && root !== undefined ? rest === '' || rest === '**' : match(part);
  };
  const fixed = rest.split('/').slice(0, -1);
  const end = fixed.findIndex((part) => /[*?[\]{}()!+@\\]/.test(part));
  const directory = (end === -1 ? fixed : fixed.slice(0, end)).join('/');
  return {
    source,
    base(roots) {
      if (root === undefined) return directory === '' ? undefined : directory;
      const start = root === '$cwd' ? roots.cwd : roots.home;
      return start === undefined || directory === '' ? start : `${start}/${directory}`;
    },
    matches: (path, roots) => test(exact, path, roots),
    // Most paths lack the literal part of most globs, and checking that is far cheaper than the glob.
    touches({ path, written, folded: [lower, alsoLower] }, roots) {
      if (!lower.includes(literal) && !(alsoLower?.includes(literal) ?? false)) return false;
      return test(loose, path, roots) || (written !== path && test(loose, written, roots));
    },
  };
}

let compiledConfig: PathGlob | undefined;

/** `$executable-config`, compiled on first use. */
export function executableConfig(): PathGlob {
  if (compiledConfig !== undefined) return compiledConfig;
  const globs = EXECUTABLE_CONFIG_GLOBS.map((source): PathGlob => {
    const compiled = compilePathGlob(source);
    if ('wrong' in compiled) throw new Error(`the built-in glob ${source} is wrong: ${compiled.wrong}`);
    return compiled;
  });
  compiledConfig = {
    source: EXECUTABLE_CONFIG,
    base: () => undefined,
    matches: (path, roots) => globs.some((glob) => glob.matches(path, roots)),
    touches: (path, roots) => globs.some((glob) => glob.touches(path, roots)),
  };
  return compiledConfig;
}

// The longest text that every match must contain. Braces and brackets are alternatives, so their content does not count.
function longestLiteral(glob: string): string {
  const flat = glob.toLowerCase().replace(/\{[^{}]*\}|\[[^\]]*\]|[@!+?*]?\([^()]*\)/g, '*');
  if (/[{}[\]()\\]/.test(flat)) return '';
  // `**/` may match nothing, including its slash.
  const stretches = flat
    .replaceAll('**/', '*')
    .replaceAll('/**', '*')
    .split(/[*?!]+/);
  return stretches.reduce((longest, stretch) => (stretch.length > longest.length ? stretch : longest), '');
}

function compile(glob: string, ignoreCase: boolean): Glob | WrongGlob {
  if (glob === '') return (path) => path === '';
  return glob === '**' ? () => true : compileGlob(glob, { ignoreCase });
}
