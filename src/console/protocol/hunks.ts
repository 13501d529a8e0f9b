// Cuts a file change into independent hunks. Page and server use the same code, so hunk indexes agree.
import { structuredPatch } from 'diff';

/** `oldText` may be the whole file or a fragment, and is undefined for a new file. */
export type Change = { readonly path: string; readonly oldText: string | undefined; readonly newText: string };

export type Hunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Prefixed with ` `, `-` or `+`, without the line feed. */
  readonly lines: readonly string[];
  /** Its offset in the old text, the text there including context, and the replacement. */
  readonly from: number;
  readonly before: string;
  readonly after: string;
};

/** Limit for both texts together. Larger changes are neither compared nor applied. */
export const MAX_COMPARED = 400_000;
const CONTEXT = 3;
/** Above this edit distance the change is one hunk: the shortest diff could take too long. */
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

/** Lines with their line feeds. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function offsetsOf(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    at += line.length;
    return at - line.length;
  });
}
