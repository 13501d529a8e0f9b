// A record of the audit stream: lines of one log as its host wrote them, behind a header.
import { z } from 'zod';
import { type Head, hashOf, parseAuditLine, splitLines } from '../../audit/audit-line.ts';

export type Batch = {
  /** Whole lines. */
  readonly lines: Buffer;
  /** The head of the host's log, with the lines at its end: what is missing there was removed. */
  readonly head?: Head | undefined;
};

const VERSION = 1;
const header = z.object({
  v: z.number().int().min(1).max(VERSION),
  head: z.object({ seq: z.number().int().nonnegative(), hash: z.string() }).optional(),
});

export const writeBatch = ({ lines, head }: Batch): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify({ v: VERSION, ...(head && { head }) })}\n`), lines]);

/** Undefined for what is no batch, or one of a later version. */
export function readBatch(bytes: Buffer): Batch | undefined {
  const end = bytes.indexOf(0x0a);
  if (end < 0 || (bytes.length > end + 1 && bytes.at(-1) !== 0x0a)) return undefined;
  try {
    const { head } = header.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    return { lines: bytes.subarray(end + 1), head };
  } catch {
    return undefined;
  }
}

/** The last line that has a number. */
export function lastLineOf(lines: Buffer): Head | undefined {
  for (const bytes of splitLines(lines).toReversed()) {
    const line = parseAuditLine(bytes.toString('utf8'));
    if (line) return { seq: line.seq, hash: hashOf(bytes) };
  }
  return undefined;
}

const collected = z.object({ v: z.number().int().min(1), seq: z.number().int().nonnegative(), hash: z.string(), isEnded: z.boolean() });
/** How far the log of an incarnation is collected. */
export type CollectedEntry = Omit<z.infer<typeof collected>, 'v'>;

export const collectedKey = (host: string, incarnation: string): string => `${host}=${incarnation}`;
export const writeCollected = (entry: CollectedEntry): Buffer => Buffer.from(JSON.stringify({ v: VERSION, ...entry }));
export function readCollected(bytes: Buffer): CollectedEntry | undefined {
  try {
    return collected.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}
