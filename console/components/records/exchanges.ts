// Joins frames to exchanges: a request and its response, on the client's connection and on the agent's, are one entry.
import { exchangeKey, type FrameRow } from '../../../src/console/protocol/frames.ts';

export type Exchange = {
  /** The frame that began it. */
  readonly first: FrameRow;
  readonly from: string;
  to: string;
  answer: FrameRow | undefined;
  /** All frames of it, in their order. */
  readonly frames: FrameRow[];
};

export type Exchanges = {
  add(rows: readonly FrameRow[]): void;
  clear(): void;
  readonly list: readonly Exchange[];
};

const US = 'switchboard';
export const partyOf = ({ leg = '' }: Pick<FrameRow, 'leg'>): string => (leg === 'editor' ? 'client' : leg);
const isReceived = ({ dir }: FrameRow): boolean => dir?.startsWith('from') === true;
/** Sender and receiver of a frame. Notifications are listed where they arrive, and go to the other side. */
export function wayOf(row: FrameRow): readonly [string, string] {
  const other = row.kind === 'notification' && row.dir === 'fromAgent' ? 'client' : US;
  return isReceived(row) ? [partyOf(row), other] : [US, partyOf(row)];
}
export function createExchanges(most: number, isJoined: () => boolean): Exchanges {
  let list: Exchange[] = [];
  /** By the number that a request has on both connections. */
  let byPair = new Map<number, Exchange>();
  /** By connection, direction and id of the response that is still missing. */
  let waiting = new Map<string, Exchange>();

  function begin(row: FrameRow): void {
    const party = partyOf(row);
    const [from, to] = wayOf(row);
    const made: Exchange = { first: row, from: row.dir === undefined ? party : from, to, answer: undefined, frames: [row] };
    list.push(made);
    await_(row, made);
  }
  function await_(row: FrameRow, exchange: Exchange): void {
    if (row.kind !== 'request' || row.dir === undefined || !isJoined()) return;
    waiting.set(exchangeKey(row), exchange);
    if (row.pair !== undefined) byPair.set(row.pair, exchange);
  }
  function add(row: FrameRow): void {
    if (row.kind === 'request' && row.pair !== undefined) {
      const known = byPair.get(row.pair);
      if (known) {
        known.frames.push(row);
        if (!isReceived(row)) known.to = partyOf(row);
        await_(row, known);
        byPair.delete(row.pair);
        return;
      }
    }
    if (row.kind === 'response' && row.dir !== undefined) {
      const key = exchangeKey(row);
      const known = waiting.get(key);
      if (known) {
        waiting.delete(key);
        known.frames.push(row);
        // What the one who asked got, and after what time.
        if (known.answer === undefined || row.leg === known.first.leg) known.answer = row;
        return;
      }
    }
    begin(row);
  }
  return {
    add(rows) {
      for (const row of rows) add(row);
      if (list.length > most) list = list.slice(-most);
      // Requests whose answer is lost.
      if (waiting.size > most) waiting = new Map();
      if (byPair.size > most) byPair = new Map();
    },
    clear() {
      list = [];
      byPair = new Map();
      waiting = new Map();
    },
    get list() {
      return list;
    },
  };
}
