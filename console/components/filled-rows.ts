// Which seconds of a chart are worth a line in its table.
import type { ChartRow } from '../../src/console/protocol/charts.ts';

export type Key = Exclude<keyof ChartRow, 't'>;

/** A rate of nothing is nothing; of single events even one that took no time was there. */
export function filledRows(
  { lines, isSparse = false }: { readonly lines: readonly { readonly key: Key }[]; readonly isSparse?: boolean },
  rows: readonly ChartRow[],
): ChartRow[] {
  return rows.filter((row) => lines.some(({ key }) => row[key] !== null && (isSparse || row[key] !== 0)));
}
