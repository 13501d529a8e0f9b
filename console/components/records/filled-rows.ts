// Selects the seconds of a chart that its table lists.
import type { ChartRow } from '../../../src/console/protocol/charts.ts';

export type Key = Exclude<keyof ChartRow, 't'>;

/** A rate of zero is omitted. A single event counts even if it took no time. */
export function filledRows(
  { lines, isSparse = false }: { readonly lines: readonly { readonly key: Key }[]; readonly isSparse?: boolean },
  rows: readonly ChartRow[],
): ChartRow[] {
  return rows.filter((row) => lines.some(({ key }) => row[key] !== null && (isSparse || row[key] !== 0)));
}
