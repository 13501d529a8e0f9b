// Redactions and latency of one frame.
import { describe, expect, test } from 'vitest';
import { frameDetail, redactionsIn, type Timed } from '../../../src/console/state/frame-detail.ts';

describe('redactions of a frame', () => {
  test('are counted by kind, with their places', () => {
    const message = {
      params: {
        env: [{ name: 'KEY', value: '[redacted]' }],
        text: 'a [redacted:github-token] and [redacted:github-token], [redacted:KEY]',
      },
    };
    expect(redactionsIn(message)).toEqual([
      { kind: '', count: 1, at: ['params.env[0].value'] },
      { kind: 'github-token', count: 2, at: ['params.text'] },
      { kind: 'KEY', count: 1, at: ['params.text'] },
    ]);
    expect(redactionsIn({ text: 'nothing' })).toEqual([]);
  });
});

describe('latency', () => {
  const row = (
    n: number,
    leg: string,
    dir: string,
    kind: string,
    id: number,
    more: { ms?: number; pair?: number; addedMs?: number } = {},
  ) => {
    const { ms, ...rest } = more;
    return { n, ...rest, record: { leg, dir, kind, id, method: 'session/prompt', ...(ms !== undefined && { ms }) } } satisfies Timed;
  };
  const rows: readonly Timed[] = [
    row(1, 'editor', 'fromEditor', 'request', 7, { pair: 1 }),
    row(2, 'mime', 'toAgent', 'request', 30, { pair: 1, addedMs: 0.25 }),
    row(3, 'mime', 'fromAgent', 'request', 7), // the agent's own, with an id that we use too
    row(4, 'mime', 'fromAgent', 'response', 30, { pair: 2, ms: 900 }),
    row(5, 'editor', 'toEditor', 'response', 7, { pair: 2, addedMs: 0.5, ms: 901.5 }),
  ];
  const latency = async (n: number) => (await frameDetail(rows[n - 1] as Timed, undefined, rows)).latency;

  test.each([
    [1, { tookMs: 901.5, half: 5, passed: { n: 2, leg: 'mime', addedMs: 0.25 }, beyondMs: 900, oursMs: 1.5 }],
    [2, { tookMs: 900, half: 4, passed: { n: 1, leg: 'editor', addedMs: 0.25 }, beyondMs: 901.5, oursMs: 1.5 }],
    [4, { tookMs: 900, half: 2, passed: { n: 5, leg: 'editor', addedMs: 0.5 }, beyondMs: 901.5, oursMs: 1.5 }],
    [5, { tookMs: 901.5, half: 1, passed: { n: 4, leg: 'mime', addedMs: 0.5 }, beyondMs: 900, oursMs: 1.5 }],
  ])('row %i', async (n, expected) => {
    expect(await latency(n)).toEqual(expected);
  });
  test('a request without a response has no latency', async () => {
    expect(await latency(3)).toMatchObject({ tookMs: undefined, half: undefined, oursMs: undefined });
  });
});

test('a frame without a body has only its latency; one that is not JSON has no schema', async () => {
  const row: Timed = { n: 1, record: { leg: 'mime', dir: 'fromAgent', kind: 'refused' } };
  expect(await frameDetail(row, undefined, [row])).toEqual({ redactions: [], latency: {} });
  expect(await frameDetail(row, 'no [redacted:KEY] json', [row])).toMatchObject({
    body: 'no [redacted:KEY] json',
    redactions: [{ kind: 'KEY', count: 1 }],
    schema: undefined,
  });
});
