// A change of a file, cut into hunks that stand for themselves. The page and its server cut alike, so that the third hunk of the one is the
// third of the other.
import { structuredPatch } from 'diff';

/** As agents tell of it: `oldText` may be the whole file or a piece of it, and is undefined for a new file. */
export type Change = { readonly path: string; readonly oldText: string | undefined; readonly newText: string };

export type Hunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with ` `, `-` or `+` before it, and without its line feed. */
  readonly lines: readonly string[];
  /** Where it begins in the old text, what stands there, with the lines around it, and what is to stand there. */
  readonly from: number;
  readonly before: string;
  readonly after: string;
};

/** So many characters of both texts together; longer ones are neither compared on a page nor applied from there. */
export const MAX_COMPARED = 400_000;
const CONTEXT = 3;
/** Texts that have less in common than this are one hunk: to find the shortest way from one to the other could take for ever. */
const MAX_EDITS = 1000;

export function hunksOf({ oldText = '', newText }: Change): readonly Hunk[] {
  if (oldText === newText) return [];
  const [old, now] = [linesOf(oldText), linesOf(newText)];
  const patch = structuredPatch('', '', oldText, newText, '', '', { context: CONTEXT, maxEditLength: MAX_EDITS });
  if (!patch) return [whole(oldText, newText, old, now)];
  const offsets = offsetsOf(old);
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    ...{ oldStart, oldLines, newStart, newLines, from: offsets[oldStart - 1] ?? oldText.length },
    lines: lines.filter((line) => !line.startsWith('\\')),
    before: old.slice(oldStart - 1, oldStart - 1 + oldLines).join(''),
    after: now.slice(newStart - 1, newStart - 1 + newLines).join(''),
  }));
}

function whole(oldText: string, newText: string, old: readonly string[], now: readonly string[]): Hunk {
  const bare = (line: string) => (line.endsWith('\n') ? line.slice(0, -1) : line);
  return {
    ...{ oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, from: 0, before: oldText, after: newText },
    lines: [...old.map((line) => `-${bare(line)}`), ...now.map((line) => `+${bare(line)}`)],
  };
}

/** With their line feeds; put together they are the text. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function offsetsOf(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    at += line.length;
    return at - line.length;
  });
}
