// Checks on the plain text of a line: a second opinion that shares no code with the parser.

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

/**
 * A comment that is not one everywhere: an interactive zsh runs what follows `;` in it, and takes its words for arguments. Words without
 * punctuation name no file worth keeping, and on a line of its own a comment has no command to be arguments of.
 */
export function hasLiveComment(text: string): boolean {
  return withoutQuoted(text)
    .split('\n')
    .some((line) => {
      const [, before, comment] = /^(.*?)(?<![^\s;&|])#(.*)$/.exec(line) ?? [];
      if (comment === undefined) return false;
      return !(before?.trim() === '' ? /^[\s\w#.,:/+-]*$/ : /^[\s\w#,:]*$/).test(comment);
    });
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
