// Frames joined to exchanges, as the page lists them.
import { describe, expect, test } from 'vitest';
import { createExchanges } from '../../console/components/records/exchanges.ts';
import type { FrameRow } from '../../src/console/protocol/frames.ts';

let n = 0;
const row = (given: Partial<FrameRow>): FrameRow => ({ n: n++, t: 0, ...given });
const asked = (leg: string, dir: string, id: string, pair?: number) =>
  row({ leg, dir, id, pair, kind: 'request', method: 'session/prompt' });
const answered = (leg: string, dir: string, id: string, ms?: number) => row({ leg, dir, id, ms, kind: 'response' });
const listed = (rows: readonly FrameRow[], isJoined = true) => {
  const exchanges = createExchanges(100, () => isJoined);
  exchanges.add(rows);
  return exchanges.list.map(({ from, to, answer, frames }) => [`${from} → ${to}`, answer?.ms, frames.length]);
};

describe('exchanges', () => {
  const through = () => [
    asked('editor', 'fromEditor', '7', 1),
    asked('mime', 'toAgent', '2', 1),
    answered('mime', 'fromAgent', '2', 5),
    answered('editor', 'toEditor', '7', 6),
  ];

  test('a request and its answer on both connections are one entry, with the time that the client waited', () => {
    expect(listed(through())).toEqual([['client → mime', 6, 4]]);
    expect(listed(through(), false)).toHaveLength(4);
  });

  test('an agent that asks the client, and a request that switchboard answers itself', () => {
    const fromAgent = [asked('mime', 'fromAgent', '0', 3), asked('editor', 'toEditor', '5', 3), answered('editor', 'fromEditor', '5', 9)];
    expect(listed(fromAgent)).toEqual([['mime → client', 9, 3]]);
    expect(listed([asked('editor', 'fromEditor', '1', 4), answered('editor', 'toEditor', '1', 2)])).toEqual([
      ['client → switchboard', 2, 2],
    ]);
  });

  test('ids of different connections and directions are different, and an answer without its request stands alone', () => {
    const rows = [
      asked('mime', 'toAgent', '1'),
      asked('mime', 'fromAgent', '1'),
      answered('other', 'fromAgent', '1', 3),
      answered('mime', 'toAgent', '1', 4),
    ];
    expect(listed(rows)).toEqual([
      ['switchboard → mime', undefined, 1],
      ['mime → switchboard', 4, 2],
      ['other → switchboard', undefined, 1],
    ]);
  });

  test('an update goes from its agent to the client, and an event has no direction', () => {
    expect(listed([row({ leg: 'mime', dir: 'fromAgent', kind: 'notification' }), row({ leg: 'mime', event: 'down' })])).toEqual([
      ['mime → client', undefined, 1],
      ['mime → mime', undefined, 1],
    ]);
  });
});
