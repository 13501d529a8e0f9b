// Text from agents and repositories must not control the user's terminal: escape sequences, carriage returns that overwrite a line, marks that
// reverse the writing direction.

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
