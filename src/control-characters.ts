// Text from agents and repositories must not control what shows it, a terminal or a page: escape sequences, carriage returns that overwrite a
// line, marks that reverse the writing direction.

/** For text of several lines. Line feeds, tabs and the joiner inside emoji stay. */
export function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (character) =>
    character === '\n' || character === '\t' || character === '\u200d' ? character : '\ufffd',
  );
}

/** For file names, keys and commands, on one line: the reader sees which character is there. */
export function escapeControls(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

// Characters that act on the display instead of being read: terminal controls and bidirectional marks.
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: that is what is looked for
const TERMINAL_ORDER = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const COLOUR = /\u001b\[[\d;]*m/y;
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: that is what is looked for

/** Bidirectional marks and invisible characters. */
const UNSEEN = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

const named = (mark: string): string => `⟨U+${(mark.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** For text on a page: nothing in it can look like something else. Sequences for terminals go, and marks that nobody sees are named. */
export function neutralise(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(TERMINAL_ORDER, '').replace(CONTROL, '').replace(UNSEEN, named);
}

/** The same for program output, which keeps its colour sequences: the page shows them. */
export function neutraliseOutput(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  // Keep what a terminal would show when a program overwrites its line, as progress bars do.
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

/** A loop: a regular expression would backtrack from each carriage return, and a program can print very many. */
function lastOf(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1);
}
