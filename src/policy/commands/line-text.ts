// What the bare text of a line gives away, before and beside the parser: a second opinion that shares no code with it.

/** Longer than any shell can be handed: Linux takes 128 KiB for one argument, macOS 1 MiB for all. */
export const MAX_LINE_CHARACTERS = 1_048_576;

/** What unbash 6.0.3 takes time for that grows with the square of its number: minutes for a line of a few hundred kilobytes. */
const SLOW = [
  ['$[', 1000],
  ['<<', 5000],
] as const;

export const isTooSlow = (text: string): boolean => SLOW.some(([token, most]) => text.split(token, most + 2).length > most + 1);

/** Characters with which a reader and a shell could see different lines. */
export function hasInvisible(text: string): boolean {
  return /[^\P{C}\n\t]|[\u2028\u2029]|(?! )\p{Zs}/u.test(text);
}

/**
 * Whether anything live is left when quoting is taken away: an expansion, a bracket, a redirection other than those that are let through.
 * Quoting is tracked in the plainest way; in doubt it counts as live. (unbash 6.0.3 reads `a\$(b` as a word where Bash sees a mistake.)
 */
export function hasLiveCharacter(text: string): boolean {
  return /[`()<>]|\$[\w({'"@*#?$!-]/.test(withoutQuoted(text).replace(HARMLESS_REDIRECTS, ' '));
}

const HARMLESS_REDIRECTS = /[012]?[<>]&[012](?![^\s;&|])|(?:[012]|&)?(?:>>?|>\||<)\s*\/dev\/null(?![^\s;&|])/g;

// Quoted and escaped characters become `_`, except that what is live in double quotes stays.
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
    } else if (isDouble) bare += character === '$' || character === '`' ? character : /[()<>"']/.test(character) ? '_' : character;
    else bare += character;
  }
  return bare;
}

/**
 * Argvs found in a text that is no valid Bash, by cutting it at everything that can start a command. For deny rules only: a shell other
 * than Bash, or a later one, may well run it.
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
