// Splits and joins command lines like a POSIX shell, for clients that store a command as one string.

/** The words of a line; undefined if a quote is unterminated. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const [text, after] = quoted(line, at);
      if (after === undefined) return undefined;
      word = (word ?? '') + text;
      at = after;
    } else if (character === '\\' && at + 1 < line.length) word = (word ?? '') + line[++at];
    else word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}

export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** The text in the quotes that open at `from`, and the position of the closing quote. */
function quoted(line: string, from: number): readonly [string, number | undefined] {
  const quote = line[from];
  let text = '';
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === quote) return [text, at];
    if (quote === '"' && line[at] === '\\' && /["\\$`]/.test(line[at + 1] ?? '')) at++;
    text += line[at] ?? '';
  }
  return [text, undefined];
}
