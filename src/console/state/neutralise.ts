// Characters that do something to a reader's eyes instead of being read: orders to a terminal, and marks that turn text around.

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: that is what is looked for
const TERMINAL_ORDER = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const COLOUR = /\u001b\[[\d;]*m/y;
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: that is what is looked for

/** Marks that change the order of what is shown, and characters that are there and cannot be seen. */
const UNSEEN = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

const named = (mark: string): string => `⟨U+${(mark.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Text of anybody's that can be shown: nothing in it is anything but what it looks like. */
export function neutralise(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(TERMINAL_ORDER, '').replace(CONTROL, '').replace(UNSEEN, named);
}

/** The same for what a program printed: its colours stay, as the sequences they are. */
export function neutraliseOutput(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  // What a program has written over itself, as progress bars do: the last of it is what one would see.
  const last = lines.map(lastOf);
  return last
    .join('\n')
    .replace(TERMINAL_ORDER, (order) => {
      COLOUR.lastIndex = 0;
      return COLOUR.test(order) && COLOUR.lastIndex === order.length ? order : '';
    })
    .replace(CONTROL, '')
    .replace(UNSEEN, named);
}

/** Step by step: a pattern would begin anew at each of the returns, and a program can print very many. */
function lastOf(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1);
}
