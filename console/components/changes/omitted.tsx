// A part of a long text that is not shown. The browser lays out a text of megabytes again with everything after it, which takes seconds.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

/** Positions in the text. */
export type Gap = { readonly from: number; readonly to: number; readonly showAll: () => void };

const LONGEST = 60_000;
const EDGE = 20_000;
/** The end of a growing text is cut in steps, so that most of it stays as it was drawn. */
const STEP = 10_000;
const LONGEST_LINE = 2000;

/** What to leave out of the text, until the user wants it all. */
export function useGap(text: string): Gap | undefined {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= LONGEST) return undefined;
  return { from: EDGE, to: endPartStart(text), showAll: () => setWhole(true) };
}

/** The start of a line, if lines are not too long. */
function endPartStart(text: string): number {
  const wanted = Math.floor((text.length - EDGE) / STEP) * STEP;
  const line = text.indexOf('\n', wanted - 1) + 1;
  return line > 0 && line <= wanted + LONGEST_LINE ? line : wanted;
}

/** The gap of a part of the text that begins here. */
export const gapFrom = ({ from, to, showAll }: Gap, at: number): Gap => ({ from: from - at, to: to - at, showAll });

export const isInside = ({ from, to }: Gap, start: number, end: number): boolean => start >= from && end <= to;

export function Omitted({ gap: { from, to, showAll } }: { readonly gap: Gap }): VNode {
  return (
    <span class="omitted quiet-text">
      About {(Math.round((to - from) / 1000) * 1000).toLocaleString()} characters are not shown.{' '}
      <button type="button" class="quiet" onClick={showAll}>
        Show all
      </button>
    </span>
  );
}
