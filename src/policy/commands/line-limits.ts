// How much work a line is, counted before it is parsed: the analysis runs on the thread that carries every session.

/** Longer than any line that a person would read. */
export const MAX_LINE_CHARACTERS = 65_536;
/** Open brackets of one kind. The parser needs time for each level: 40,000 would take seconds. */
const MAX_BRACKETS = 64;
/** Beyond these, in one line and outside quoted text and here-documents, a line is not read. */
export const MOST = { words: 1000, commands: 256, expansions: 256, globs: 256, quotes: 2000, changes: 24 } as const;
/** Files of all commands, in each directory that a command may run in. Every rule about files looks at each. */
const MAX_FILES = 600;
/** Characters of arithmetic that count as one expansion. */
const ARITHMETIC = 8;
const MAX_DOCUMENTS = 16;

/** Constructs for which unbash 6.0.3 takes quadratic time: minutes for a few hundred kilobytes. */
const SLOW = [
  ['$[', 1000],
  ['<<', 500],
] as const;

/** What the parts of a line cost, in units of about 10 ns. Scripts inside words and the words of each command count again. */
const COST = {
  character: 2,
  word: 50,
  command: 400,
  expansion: 150,
  glob: 100,
  quote: 30,
  operand: 100,
  change: 500,
  letter: 15,
  scriptCharacter: 5,
} as const;
/** Counted, not timed: the same line always has the same answer. */
const MAX_WORK = 300_000;
/** Letters of one word of options, `-la`. */
const MAX_LETTERS = 256;

/** The work that is left for a line. Each method says whether the line may go on. */
export type WorkBudget = {
  /** Before a script is parsed. */
  script(text: string): boolean;
  /** Before the meaning of a command is looked up, for each directory that it may run in. */
  command(argv: readonly string[], directories: number): boolean;
  redirection(directories: number): boolean;
  /** Once it is known which files a command uses. */
  files(count: number): boolean;
};

export function createWorkBudget(): WorkBudget {
  let work = MAX_WORK;
  let files = MAX_FILES;
  const spend = (units: number): boolean => {
    work -= units;
    return work >= 0;
  };
  return {
    script(text) {
      if (text.length > MAX_LINE_CHARACTERS || isTooDeep(text) || isTooSlow(text)) return false;
      const cost = costOf(text);
      return cost !== undefined && spend(cost);
    },
    command(argv, directories) {
      const isBundled = /(?:^|\/)tar$/.test(argv[0] ?? '');
      let letters = 0;
      for (const [index, word] of argv.entries()) {
        const own = lettersOf(word, isBundled && index === 1);
        if (own > MAX_LETTERS) return false;
        letters += own;
      }
      const script = SCRIPTED.test(argv[0] ?? '') ? argv.reduce((sum, word) => sum + word.length, 0) : 0;
      const each = COST.operand * argv.length + (argv[0] === 'cd' ? COST.change : 0);
      return spend(COST.command + COST.letter * letters + COST.scriptCharacter * script + each * directories);
    },
    redirection: (directories) => spend(COST.operand * directories),
    files(count) {
      files -= count;
      return files >= 0;
    },
  };
}

/** Programs whose words are read as scripts. */
const SCRIPTED = /(?:^|\/)(?:g?sed|[gmn]?awk|jq)$/;

const isTooSlow = (text: string): boolean => SLOW.some(([token, most]) => text.split(token, most + 2).length > most + 1);

// Quotes are not looked at: nobody opens so many brackets in text either without closing them.
function isTooDeep(text: string): boolean {
  const open = { '(': 0, '[': 0, '{': 0 };
  for (const character of text) {
    if (character === '(' || character === '[' || character === '{') {
      open[character]++;
      if (open[character] > MAX_BRACKETS) return true;
    } else if (character === ')') open['('] = Math.max(0, open['('] - 1);
    else if (character === ']') open['['] = Math.max(0, open['['] - 1);
    else if (character === '}') open['{'] = Math.max(0, open['{'] - 1);
  }
  return false;
}

// The letters of a cluster of options. tar takes its first word for one, with or without a dash.
function lettersOf(word: string, isBundle: boolean): number {
  if (!isBundle && (!word.startsWith('-') || word.startsWith('--'))) return 0;
  return /^-?(\w*)/.exec(word)?.[1]?.length ?? 0;
}

/**
 * The cost of a script, undefined if there is too much of something. The tracking of quotes is simple: what it misses, the budget notices
 * command by command.
 */
function costOf(text: string): number | undefined {
  const count = { words: 0, commands: 1, expansions: 0, globs: 0, quotes: 0, changes: 0 };
  let isDouble = false;
  let isBetween = true;
  let documents = 0;
  let document: { readonly end: string; readonly isText: boolean } | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const wasBetween = isBetween;
    isBetween = false;
    switch (character) {
      case '\\':
        at++;
        break;
      case '"':
        isDouble = !isDouble;
        count.quotes++;
        break;
      case "'": {
        if (isDouble) break;
        count.quotes++;
        const end = text.indexOf("'", at + 1);
        // Without its end it is no quote, and every word after it counts.
        if (end !== -1) at = end;
        break;
      }
      case '`':
      case '$':
        count.expansions++;
        break;
      case '*':
      case '?':
      case '[':
      case '{':
        if (!isDouble) count.globs++;
        break;
      case ' ':
      case '\t':
        isBetween = !isDouble;
        break;
      case '<':
      case '>':
        if (isDouble) break;
        isBetween = true;
        if (character === '<' && text[at + 1] === '<' && documents++ < MAX_DOCUMENTS) document ??= documentAt(text, at);
        break;
      case ';':
      case '&':
      case '|':
      case '(':
      case '\n':
        if (isDouble) break;
        isBetween = true;
        if (text[at + 1] !== character) count.commands++;
        else if (character === '(') count.expansions += arithmeticAt(text, at) / ARITHMETIC;
        if (character === '\n' && document !== undefined) {
          const end = text.indexOf(document.end, at);
          const body = text.slice(at, end === -1 ? at : end);
          if (!document.isText) count.expansions += body.split(/[$`]/, MOST.expansions + 2).length - 1;
          at += body.length;
          document = undefined;
        }
        break;
      default:
        if (wasBetween && character === 'c' && /^cd(?!\w)/.test(text.slice(at, at + 3))) count.changes++;
    }
    if (wasBetween && !isBetween) count.words++;
  }
  for (const key of Object.keys(MOST) as (keyof typeof MOST)[]) if (count[key] > MOST[key]) return undefined;
  return (
    COST.character * text.length +
    COST.word * count.words +
    COST.expansion * count.expansions +
    COST.glob * count.globs +
    COST.quote * count.quotes
  );
}

function arithmeticAt(text: string, at: number): number {
  const end = text.indexOf('))', at);
  return (end === -1 ? text.length : end) - at;
}

// The shell leaves the text alone if the delimiter is quoted.
function documentAt(text: string, at: number): { readonly end: string; readonly isText: boolean } | undefined {
  const [, quote, word] = /^<<-?[ \t]*(['"]?)(\w+)\1/.exec(text.slice(at, at + 80)) ?? [];
  return word === undefined ? undefined : { end: `\n${word}`, isText: quote !== '' };
}
