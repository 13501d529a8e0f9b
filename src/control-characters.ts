/** What agents and repositories say must not steer the user's terminal. All but line feeds and tabs goes: escape sequences, carriage returns
 * that overwrite, marks that reverse the direction of writing. */
export function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (character) =>
    character === '\n' || character === '\t' || character === '\u200d' ? character : '\ufffd',
  );
}
