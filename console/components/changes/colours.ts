// A small highlighter: comments, strings, numbers, keywords. Rough on purpose: a wrong colour does no harm, and every pattern scans the
// text once.

export type Token = { readonly kind: 'comment' | 'string' | 'number' | 'keyword' | undefined; readonly text: string };

const TEXTS = String.raw`"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?`;
const NUMBER = String.raw`\b\d[\w.]*`;
const WORD = String.raw`[A-Za-z_$][\w$]*`;

type Family = { readonly pattern: RegExp; readonly words: ReadonlySet<string> };

const family = (comment: string, texts: string, words: string): Family => ({
  pattern: new RegExp(`(?<comment>${comment})|(?<string>${texts})|(?<number>${NUMBER})|(?<word>${WORD})`, 'g'),
  words: new Set(words.split(' ')),
});

const C = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const HASH = String.raw`#[^\n]*`;
const SCRIPT = family(
  C,
  `${TEXTS}|\`(?:[^\`\\\\]|\\\\[\\s\\S])*\`?`,
  'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of override private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield',
);
const SYSTEM = family(
  C,
  TEXTS,
  'abstract alignas as async auto await bool boolean break byte case catch chan char class const constexpr continue crate defer delete do double dyn else enum export extends extern false final finally float fn for func go goto guard if impl implements import in inline int interface internal let long loop map match mod move mut namespace new nil null nullptr operator override package private protected pub public range ref return select self short signed sizeof static string struct super switch template this throw throws trait true try type typedef typename union unsafe unsigned use using val var virtual void volatile when where while yield',
);
const PYTHON = family(
  HASH,
  `"""[\\s\\S]*?(?:"""|$)|'''[\\s\\S]*?(?:'''|$)|${TEXTS}`,
  'and as assert async await begin break case class continue def del do elif else elsif end ensure except false False finally for from global if import in is lambda match module next nil None nonlocal not or pass raise require rescue return self super then true True try unless until when while with yield',
);
const SHELL = family(
  String.raw`(?<![^\s;])#[^\n]*`,
  TEXTS,
  'case do done elif else esac exit export fi for function if in local readonly return set shift source then trap true false unset until while',
);
const DATA = family(String.raw`(?<![^\s])#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, TEXTS, 'true false null yes no on off');
const QUERY = family(
  String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`,
  TEXTS,
  'add all alter and as asc begin between by case cast commit create cross default delete desc distinct drop else end exists false from full group having if in index inner insert into is join key left like limit local not null offset on or order outer primary references returning right rollback select set table then true union unique update using values view when where with function nil return repeat until while do for elseif',
);
const MARKUP: Family = {
  pattern:
    /(?<comment><!--[\s\S]*?(?:-->|$))|(?<string>"[^"\n]*"?|'[^'\n]*'?)|(?<number>\b\d[\w.%]*)|(?<word><\/?[\w:-]+|\/?>|(?<![\w-])[@.#]?[\w-]+(?![\w-])(?=\s*[:{]))/g,
  words: new Set(),
};

const LANGUAGES: Readonly<Record<string, Family>> = Object.fromEntries(
  (
    [
      [SCRIPT, 'js jsx ts tsx mjs cjs mts cts javascript typescript'],
      [SYSTEM, 'c h cc cpp hpp cs go rs rust java kt kotlin swift scala php dart zig proto objc'],
      [PYTHON, 'py python rb ruby r jl nim ex exs elixir'],
      [SHELL, 'sh bash zsh fish shell console dockerfile makefile make'],
      [DATA, 'json jsonc json5 yaml yml toml ini conf env tf hcl'],
      [QUERY, 'sql lua hs haskell elm'],
      [MARKUP, 'html xml svg vue css scss less'],
    ] as const
  ).flatMap(([its, names]) => names.split(' ').map((name) => [name, its])),
);

/** All of the text as tokens; undefined for an unknown language. */
export function tokensOf(text: string, language: string): readonly Token[] | undefined {
  const its = Object.hasOwn(LANGUAGES, language.toLowerCase()) ? LANGUAGES[language.toLowerCase()] : undefined;
  if (!its) return undefined;
  const tokens: Token[] = [];
  let done = 0;
  for (const found of text.matchAll(its.pattern)) {
    const kind = kindOf(found.groups ?? {}, its);
    if (kind === undefined) continue;
    if (found.index > done) tokens.push({ kind: undefined, text: text.slice(done, found.index) });
    tokens.push({ kind, text: found[0] });
    done = found.index + found[0].length;
  }
  if (done < text.length) tokens.push({ kind: undefined, text: text.slice(done) });
  return tokens;
}

function kindOf({ comment, string, number, word }: Readonly<Record<string, string | undefined>>, { words }: Family): Token['kind'] {
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (number !== undefined) return 'number';
  return word !== undefined && (words.size === 0 || words.has(word) || words.has(word.toLowerCase())) ? 'keyword' : undefined;
}
