// The state of a link under seeded histories: a bus that loses, repeats, delays and reorders messages, and readers that stop.
import { expect, test } from 'vitest';
import { createLinkState, type LinkState } from '../../../src/bus/link/link-state.ts';
import { encodeMessage } from '../../../src/bus/link/messages.ts';

const LIMITS = { windowBytes: 4096, chunkBytes: 512 };

/** mulberry32: the same seed, the same history. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type End = {
  readonly link: LinkState;
  readonly written: Buffer[];
  readonly read: Buffer[];
  unread: number;
  ended: string | undefined;
};

const newEnd = (): End => ({ link: createLinkState(7, LIMITS), written: [], read: [], unread: 0, ended: undefined });

/** Runs one history to its end and returns both ends. */
function play(seed: number): { readonly ends: readonly [End, End]; readonly lost: number; readonly mostUnread: number } {
  const random = randomOf(seed);
  const chance = (share: number) => random() < share;
  const ends: [End, End] = [newEnd(), newEnd()];
  const onTheWay: [Buffer[], Buffer[]] = [[], []];
  const loss = random() * 0.4;
  const reader = 0.2 + random() * 0.8;
  let lost = 0;
  let mostUnread = 0;

  function send(from: 0 | 1): void {
    for (let message = ends[from].link.take(); message; message = ends[from].link.take()) {
      if (chance(loss)) lost += 1;
      else onTheWay[from].push(message);
      if (chance(0.05)) onTheWay[from].push(message);
    }
  }
  function deliver(from: 0 | 1): void {
    const queue = onTheWay[from];
    if (queue.length === 0) return;
    const at = chance(0.1) ? Math.floor(random() * queue.length) : 0;
    const [message] = queue.splice(at, 1) as [Buffer];
    const to = ends[1 - from] as End;
    const received = to.link.receive(message);
    if (received.kind === 'data') {
      to.read.push(received.bytes);
      to.unread += received.bytes.length;
      mostUnread = Math.max(mostUnread, to.unread);
    }
    if (received.kind === 'end') to.ended = received.reason;
  }
  const writes = 5 + Math.floor(random() * 60);
  for (let step = 0, done = 0; step < 20_000; step++) {
    const side = chance(0.5) ? 0 : 1;
    const end = ends[side];
    if (done < writes && chance(0.3)) {
      done += 1;
      const bytes = Buffer.alloc(1 + Math.floor(random() * 1500), Math.floor(random() * 256));
      end.written.push(bytes);
      end.link.write(bytes);
    }
    if (done === writes) for (const one of ends) one.link.end('finished');
    send(side);
    for (let count = Math.ceil(random() * 12); count > 0; count--) deliver(side);
    if (end.unread > 0 && chance(reader)) {
      end.link.consumed(end.unread);
      end.unread = 0;
    }
    if (chance(0.02)) end.link.tick();
    if (chance(0.002)) {
      // The bus was away: everything on its way is gone.
      lost += onTheWay[0].length + onTheWay[1].length;
      onTheWay[0].length = 0;
      onTheWay[1].length = 0;
      for (const one of ends) one.link.resend();
    }
    if (ends.every(({ link }) => link.isOver)) break;
  }
  return { ends, lost, mostUnread };
}

test('whatever the bus loses, repeats and reorders, both ends read exactly what the other wrote, and then its end', () => {
  let lost = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const { ends, lost: count, mostUnread } = play(seed);
    lost += count;
    if (mostUnread > LIMITS.windowBytes) throw new Error(`seed ${seed}: ${mostUnread} bytes unread`);
    for (const side of [0, 1] as const) {
      const { written } = ends[side];
      const { read, ended } = ends[1 - side] as End;
      if (!Buffer.concat(read).equals(Buffer.concat(written)) || ended !== 'finished')
        throw new Error(`seed ${seed}: side ${side} lost bytes`);
    }
  }
  expect(lost).toBeGreaterThan(3000);
});

test('a reader that stops lets at most a window be sent, and reading on continues where it stopped', () => {
  const [sender, receiver] = [createLinkState(1, LIMITS), createLinkState(1, LIMITS)];
  sender.write(Buffer.alloc(100_000, 1));
  let arrived = 0;
  const pass = () => {
    for (let message = sender.take(); message; message = sender.take()) {
      const received = receiver.receive(message);
      if (received.kind === 'data') arrived += received.bytes.length;
    }
    for (let message = receiver.take(); message; message = receiver.take()) sender.receive(message);
  };
  pass();
  pass();
  expect(arrived).toBe(LIMITS.windowBytes);
  receiver.consumed(arrived);
  pass();
  pass();
  expect(arrived).toBe(2 * LIMITS.windowBytes);
});

test('messages of another epoch change nothing', () => {
  const link = createLinkState(2, LIMITS);
  expect(link.receive(encodeMessage({ kind: 'data', epoch: 1, offset: 0, bytes: Buffer.from('old') }))).toEqual({ kind: 'stale' });
  expect(link.receive(encodeMessage({ kind: 'data', epoch: 2, offset: 0, bytes: Buffer.from('new') }))).toMatchObject({ kind: 'data' });
});

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['an unknown kind', Buffer.alloc(20, 9)],
  ['half a header', encodeMessage({ kind: 'end', epoch: 1, offset: 0, reason: '' }).subarray(0, 5)],
  ['half an acknowledgement', encodeMessage({ kind: 'ack', epoch: 1, offset: 0, credit: 1, hasGap: false }).subarray(0, 15)],
  ['an impossible offset', Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.alloc(8, 0xff)])],
])('%s is no message', (_, bytes) => {
  expect(createLinkState(1, LIMITS).receive(bytes)).toEqual({ kind: 'stale' });
});

test('an acknowledgement of bytes that were never sent changes nothing', () => {
  const link = createLinkState(1, LIMITS);
  link.write(Buffer.from('abc'));
  link.receive(encodeMessage({ kind: 'ack', epoch: 1, offset: 99, credit: 0, hasGap: false }));
  expect(link.heldBytes).toBe(3);
});
