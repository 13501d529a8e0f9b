// Details of one frame: content, redactions, schema check and latency.

import { fields } from '../../json-object.ts';
import type { FrameDetail, FrameLatency, Redaction } from '../protocol/frames.ts';
import { checkFrame } from './check-frame.ts';
import type { Fields } from './read-update.ts';

/** The fields of a ring row used here. */
export type Timed = {
  readonly n: number;
  readonly pair?: number | undefined;
  readonly addedMs?: number | undefined;
  readonly record: {
    readonly leg?: string;
    readonly dir?: string;
    readonly kind?: string;
    readonly method?: string;
    readonly id?: unknown;
    readonly ms?: number;
  };
};

export async function frameDetail(row: Timed, body: string | undefined, rows: readonly Timed[]): Promise<Omit<FrameDetail, 'row'>> {
  const latency = latencyOf(row, rows);
  if (body === undefined) return { redactions: [], latency };
  const message = parsed(body);
  const schema = message && row.record.kind !== 'refused' ? await checkFrame(row.record, message) : undefined;
  return { body, redactions: redactionsIn(message ?? body), schema, latency };
}

function parsed(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? fields(value) : undefined;
  } catch {
    return undefined;
  }
}

const MARK = /\[redacted(?::([^\]\s]{1,80}))?\]/g;
const MOST_PLACES = 20;
const DEEPEST = 200;

/** Redaction placeholders, by kind and path. */
export function redactionsIn(value: unknown): readonly Redaction[] {
  const found = new Map<string, { count: number; readonly at: string[] }>();
  function look(text: string, at: string): void {
    for (const [, kind = ''] of text.matchAll(MARK)) {
      const its = found.get(kind) ?? { count: 0, at: [] };
      found.set(kind, its);
      its.count++;
      if (its.at.length < MOST_PLACES && !its.at.includes(at)) its.at.push(at);
    }
  }
  function walk(one: unknown, at: string, depth: number): void {
    if (typeof one === 'string') look(one, at);
    if (typeof one !== 'object' || one === null || depth > DEEPEST) return;
    if (Array.isArray(one)) for (const [index, element] of one.entries()) walk(element, `${at}[${index}]`, depth + 1);
    else
      for (const [key, member] of Object.entries(one)) {
        look(key, at);
        walk(member, at === '' ? key : `${at}.${key}`, depth + 1);
      }
  }
  walk(value, '', 0);
  return [...found].map(([kind, its]) => ({ kind, ...its }));
}

function latencyOf(row: Timed, rows: readonly Timed[]): FrameLatency {
  const { kind, id } = row.record;
  if (id === undefined) return {};
  const isAnswer = kind === 'response';
  const [request, answer] = isAnswer ? [halfOf(row, rows), row] : [row, halfOf(row, rows)];
  const passed = row.pair === undefined ? undefined : rows.find((other) => other.pair === row.pair && other.n !== row.n);
  const beyond = passed && (isAnswer ? passed : halfOf(passed, rows));
  const tookMs = answer?.record.ms;
  const beyondMs = beyond?.record.ms;
  return {
    tookMs,
    half: (isAnswer ? request : answer)?.n,
    passed: passed && { n: passed.n, leg: passed.record.leg ?? '', addedMs: rounded(row.addedMs ?? passed.addedMs) },
    beyondMs,
    // The shorter duration is the peer's own; the rest was spent here.
    oursMs: tookMs === undefined || beyondMs === undefined ? undefined : rounded(Math.abs(tookMs - beyondMs)),
  };
}

/** The response to a request, or the request of a response, on the same connection. Ids repeat, so the nearest one counts. */
function halfOf({ n, record: { leg, id, kind, dir } }: Timed, rows: readonly Timed[]): Timed | undefined {
  const isAnswer = kind === 'response';
  const isHalf = ({ record }: Timed) =>
    record.leg === leg &&
    record.id === id &&
    record.dir !== dir &&
    (record.kind === 'response') !== isAnswer &&
    record.kind !== 'notification';
  return isAnswer ? rows.findLast((row) => row.n < n && isHalf(row)) : rows.find((row) => row.n > n && isHalf(row));
}

const rounded = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : Math.round(ms * 1000) / 1000);
