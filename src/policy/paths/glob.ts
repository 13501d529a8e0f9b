// Globs over paths, as picomatch has them. Its regular expressions take minutes on a long name when there are several wildcards in them, and a policy may come
// with a repository; those are compared part by part instead, which takes no longer than the text is long.
import picomatch from 'picomatch';

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

/** At most one wildcard in each part, and one `**` that others follow. */
function isQuick(glob: string): boolean {
  const parts = glob.split('/');
  const deep = parts.slice(0, -1).filter((part) => part === '**');
  return deep.length <= 1 && parts.every((part) => part === '**' || (part.match(/\*+|[@!?]\(/g) ?? []).length <= 1);
}

/** Without its braces; undefined when that makes too many. A brace that is not closed, or has no comma in it, is one of the text. */
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
    // What picomatch takes for more than itself, and what is left of a brace or bracket, is not guessed at.
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

// A part that is nothing but `*` stands for a name, and nothing is no name.
const textFits = (tokens: readonly Token[], text: string): boolean =>
  (text !== '' || tokens.length === 0) &&
  fits(
    tokens,
    [...text.split('')],
    (token) => token === STAR,
    (token, character) => (token as Exclude<Token, typeof STAR>)(character),
  );

/** Only the last wildcard need ever be tried again: what an earlier one could take more of, the last one can take as well. */
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
