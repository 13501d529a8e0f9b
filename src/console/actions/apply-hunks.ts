// Applies hunks to a file that may have changed since. A hunk whose context is missing or ambiguous is a conflict; nothing is guessed.
import { type Change, type Hunk, hunksOf, linesOf } from '../protocol/hunks.ts';

/**
 * `changed`: the text to replace is missing. `twice`: it occurs more than once. `exists`, `gone`: the file itself does or does not exist.
 */
export type Why = 'changed' | 'twice' | 'exists' | 'gone';
export type Placed =
  | { readonly state: 'open'; readonly from: number; readonly to: number }
  /** The file already contains it. */
  | { readonly state: 'applied' }
  | { readonly state: 'conflict'; readonly why: Why };

export type Applied =
  | { readonly text: string; readonly isChanged: boolean }
  | { readonly conflicts: readonly { readonly hunk: number; readonly why: Why }[] };

/** The state of each hunk in the file. `file` is undefined when it does not exist. */
export function placeHunks(file: string | undefined, change: Change, hunks = hunksOf(change)): readonly Placed[] {
  const { oldText, newText } = change;
  const old = oldText ?? '';
  const all = (placed: Placed) => hunks.map(() => placed);
  if (file === newText) return all({ state: 'applied' });
  if (file === undefined) return old === '' ? hunks.map(at(0)) : all({ state: 'conflict', why: 'gone' });
  if (file === old) return hunks.map(at(0));
  if (oldText === undefined) return all({ state: 'conflict', why: 'exists' });
  // The old text occurs exactly once in the file, so every hunk keeps its offset within it.
  const isInNew = newText.includes(old);
  if (isInNew && old !== '' && places(file, newText).length === 1) return all({ state: 'applied' });
  const [base, ...others] = old === '' ? [] : places(file, old);
  if (others.length > 0) return all({ state: 'conflict', why: 'twice' });
  if (base !== undefined && isJoined(file, base, old, newText)) return hunks.map(at(base));
  return hunks.map((hunk) => placeOf(file, old, hunk));
}

const at =
  (base: number) =>
  ({ from, before }: Hunk): Placed => ({ state: 'open', from: base + from, to: base + from + before.length });

/** Places a hunk by its context lines, which must occur exactly once in the old text and in the file. */
function placeOf(file: string, old: string, { before, after }: Hunk): Placed {
  const conflict = (why: Why): Placed => ({ state: 'conflict', why });
  const [here, again] = before === '' ? [] : linePlaces(file, before);
  const [done, doneAgain] = after === '' ? [] : linePlaces(file, after);
  const isNested = after.includes(before) || before.includes(after);
  if (done !== undefined && (here === undefined || (isNested && after.length > before.length)))
    return doneAgain === undefined ? { state: 'applied' } : conflict('twice');
  if (here === undefined) return conflict('changed');
  if (again !== undefined || linePlaces(old, before).length !== 1 || (done !== undefined && !isNested)) return conflict('twice');
  if (!isJoined(file, here, before, after)) return conflict('changed');
  return { state: 'open', from: here, to: here + before.length };
}

/** Text without a final line feed must not go before more text: two lines would merge. */
function isJoined(file: string, from: number, before: string, after: string): boolean {
  return after === '' || after.endsWith('\n') || !before.endsWith('\n') || from + before.length === file.length;
}

/** Offsets of a fragment. Whole lines match only at line starts; a part of a line may match anywhere. */
const places = (file: string, piece: string): readonly number[] =>
  piece.endsWith('\n') ? linePlaces(file, piece) : twoOf(file, piece, () => true);

function linePlaces(file: string, piece: string): readonly number[] {
  return twoOf(file, piece, (from) => {
    const end = from + piece.length;
    return (from === 0 || file[from - 1] === '\n') && (piece.endsWith('\n') || end === file.length);
  });
}

/** Two matches already mean that it is ambiguous. */
function twoOf(file: string, piece: string, isGood: (from: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let from = file.indexOf(piece); from !== -1 && found.length < 2; from = file.indexOf(piece, from + 1))
    if (isGood(from)) found.push(from);
  return found;
}

/** Agents report changes with LF. A file with CRLF throughout keeps CRLF. */
export function plainText(file: string): string {
  return /(?<!\r)\n/.test(file) ? file : file.replaceAll('\r\n', '\n');
}

/** The file with the chosen hunks applied, or the hunks that conflict. */
export function applyHunks(file: string | undefined, change: Change, chosen: readonly number[], hunks = hunksOf(change)): Applied {
  const text = file === undefined ? undefined : plainText(file);
  const isCrLf = text !== file;
  const placed = placeHunks(text, change, hunks);
  const wanted = [...new Set(chosen)].filter((index) => hunks[index] !== undefined);
  const conflicts = wanted.flatMap((hunk) => {
    const where = placed[hunk] as Placed;
    return where.state === 'conflict' ? [{ hunk, why: where.why }] : [];
  });
  const pieces = wanted
    .flatMap((hunk) => {
      const where = placed[hunk] as Placed;
      return where.state === 'open' ? [{ hunk, from: where.from, to: where.to, after: (hunks[hunk] as Hunk).after }] : [];
    })
    .sort((a, b) => a.from - b.from);
  // Two hunks that overlap in the current file.
  for (const [index, piece] of pieces.entries())
    if (piece.from < (pieces[index - 1]?.to ?? 0)) conflicts.push({ hunk: piece.hunk, why: 'changed' });
  if (conflicts.length > 0) return { conflicts };
  let made = '';
  let done = 0;
  for (const { from, to, after } of pieces) {
    made += (text ?? '').slice(done, from) + after;
    done = to;
  }
  made += (text ?? '').slice(done);
  return { text: isCrLf ? made.replaceAll('\n', '\r\n') : made, isChanged: pieces.length > 0 };
}

/** The text at the place of a hunk, to compare. */
export function aroundHunk(file: string, { oldStart, oldLines }: Hunk): string {
  const from = Math.max(oldStart - 1, 0);
  return linesOf(plainText(file))
    .slice(from, from + Math.max(oldLines, 1) + 2)
    .join('');
}
