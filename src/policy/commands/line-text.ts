// Checks on the plain text of a line: a second opinion that shares no code with the parser.

/** Longer than any line that a person would read. */
export const MAX_LINE_CHARACTERS = 65_536;
/** Open brackets of one kind. The parser needs time for each level: 40,000 would take seconds. */
const MAX_BRACKETS = 64;

/** Constructs for which unbash 6.0.3 takes quadratic time: minutes for a few hundred kilobytes. */
const SLOW = [
  ['$[', 1000],
  ['<<', 500],
] as const;

export const isTooSlow = (text: string): boolean =>
  isTooDeep(text) || SLOW.some(([token, most]) => text.split(token, most + 2).length > most + 1);

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

/** Characters that make a reader and a shell see different lines. */
export function hasInvisible(text: string): boolean {
  return /[^\P{C}\n\t]|[\u2028\u2029]|(?! )\p{Zs}/u.test(text);
}

/**
 * Whether anything outside quotes is live: an expansion, a bracket, a redirection other than the permitted ones. The tracking of quotes is
 * simple; in doubt a character counts as live. (unbash 6.0.3 reads `a\$(b` as a word where Bash reports an error.)
 */
export function hasLiveCharacter(text: string): boolean {
  return /[`()<>]|\$[\w({'"@*#?$!-]/.test(withoutQuoted(text).replace(HARMLESS_REDIRECTS, ' '));
}

const HARMLESS_REDIRECTS =
  /[012]?[<>]&[012](?![^\s;&|])|(?:[012]|&)?(?:>>?|>\||<)[ \t]*\/dev\/null(?![^\s;&|])|[012]?(?:>>?|<)[ \t]*[\w@%+:,./~-]+(?![^\s;&|<>])/g;

// Replaces quoted and escaped characters by `_`, except those that are live in double quotes.
function withoutQuoted(text: string): string {
  let bare = '';
  let isDouble = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (character === '\\') {
      bare += '_';
      index++;
    } else if (character === '"') isDouble = !isDouble;
    else if (character === "'" && !isDouble) {
      const end = text.indexOf("'", index + 1);
      if (end === -1) return '$(';
      bare += '_';
      index = end;
    } else if (isDouble && character === '$') {
      const known = /^\$(?:\?|(?:HOME|PWD)(?!\w)|\{(?:HOME|PWD)\})/.exec(text.slice(index, index + 8))?.[0];
      bare += known === undefined ? '$' : '_';
      if (known !== undefined) index += known.length - 1;
    } else if (isDouble) bare += character === '$' || character === '`' ? character : /[()<>"']/.test(character) ? '_' : character;
    else bare += character;
  }
  return bare;
}

/**
 * Argvs in a text that is not valid Bash, cut at everything that can start a command. Only for deny rules: another shell, or a later Bash,
 * may run it.
 */
export function crudeCommands(text: string): string[][] {
  return text
    .split(/[;&|\n\r`(){}]|\$\(|\b(?:then|do|else)\b/)
    .map((segment) =>
      segment
        .replace(/['"\\]/g, '')
        .trim()
        .split(/\s+/),
    )
    .map((words) => words.slice(words.findIndex((word) => !/^(\w+=.*|!|if|while|until|time)$/.test(word))))
    .filter((words) => (words[0] ?? '') !== '');
}
