// A link on a bus: byte streams for a connection, on top of messages that may get lost. The state is in `link-state.ts`; here are its timers.
import { EventEmitter } from 'node:events';
import type { Sink, Source } from '../../wire/byte-stream.ts';
import { inMicrotask } from '../../wire/writer.ts';
import type { Bus } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { createLinkState, type LinkLimits } from './link-state.ts';
import { encodeMessage } from './messages.ts';

export type LinkOptions = {
  readonly bus: Bus;
  readonly clock: BusClock;
  /** Where the messages of this end go. The owner of the link passes the messages for it to `receive`. */
  readonly to: string;
  readonly epoch: number;
  readonly limits?: LinkLimits | undefined;
  /** A link that hears nothing for this long is lost, for this reason. */
  readonly lostAfterMs: number;
  readonly lostReason: string;
  readonly on: LinkEvents;
};

export type LinkEvents = {
  /** Nothing was heard for a while, or something was heard again. */
  readonly away?: (isAway: boolean) => void;
  /** Nothing can be sent or received any more. */
  readonly closed: (why: string) => void;
  /** Something was sent again. */
  readonly resent?: () => void;
};

export type Link = {
  readonly source: Source;
  readonly sink: Sink;
  receive(message: Buffer): void;
  /** Ends it at once; the other end learns why. */
  reset(why: string): void;
  /** Ends it when everything was sent and received. */
  end(why: string): void;
};

/** 32 kB and 512 kB: another session on the same bus waits at most some milliseconds behind a large frame. */
export const LINK_LIMITS: LinkLimits = { windowBytes: 512 * 1024, chunkBytes: 32 * 1024 };
/** Unacknowledged messages are sent again. */
export const TICK_MS = 500;
/** Says that this end is alive. */
export const HEARTBEAT_TICKS = 4;
/** When the other end counts as away. */
const AWAY_MS = 5000;
/** How long an end waits for the last acknowledgements. */
const LINGER_MS = 5000;

export function createLink({ bus, clock, to, epoch, limits = LINK_LIMITS, lostAfterMs, lostReason, on }: LinkOptions): Link {
  const state = createLinkState(epoch, limits);
  const events = new EventEmitter();
  let unread: Buffer[] = [];
  let isPaused = false;
  let isFull = false;
  let isClosed = false;
  let isEnding = false;
  let endedWhy: string | undefined;
  let isReadToEnd = false;
  let heardAt = clock.monotonicMs();
  let isAway = false;
  let ticks = 0;
  let resends = 0;
  let isScheduled = false;
  let stopLingering = () => {};

  const stopTicking = every(clock, TICK_MS, tick);
  const stopWatching = bus.onConnection((isConnected) => {
    if (!isConnected) return;
    state.resend();
    flush();
  });

  function flush(): void {
    isScheduled = false;
    if (isClosed || !bus.isConnected) return;
    for (let message = state.take(); message; message = state.take()) bus.send(to, message);
    if (state.resends > resends) {
      resends = state.resends;
      on.resent?.();
    }
    if (isFull && state.heldBytes <= limits.windowBytes / 2) {
      isFull = false;
      events.emit('drain');
    }
    if (state.isOver) close(endedWhy ?? 'it ended');
  }
  /** What one turn of the event loop writes leaves together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    inMicrotask(flush);
  }
  function tick(): void {
    ticks += 1;
    const silentMs = clock.monotonicMs() - heardAt;
    if (silentMs > AWAY_MS !== isAway) {
      isAway = !isAway;
      on.away?.(isAway);
    }
    if (silentMs > lostAfterMs) return close(lostReason);
    if (state.heldBytes > 0 || isEnding || ticks % HEARTBEAT_TICKS === 0) state.tick();
    flush();
  }
  function deliver(): void {
    while (!isPaused && unread.length > 0) {
      const bytes = unread.shift() as Buffer;
      state.consumed(bytes.length);
      events.emit('data', bytes);
    }
    if (unread.length > 0 || endedWhy === undefined || isReadToEnd) return;
    isReadToEnd = true;
    events.emit('end');
    end(endedWhy);
  }
  function end(why: string): void {
    if (isEnding || isClosed) return;
    isEnding = true;
    state.end(why);
    schedule();
    stopLingering = clock.after(LINGER_MS, () => close(why));
  }
  function close(why: string): void {
    if (isClosed) return;
    isClosed = true;
    stopTicking();
    stopLingering();
    stopWatching();
    unread = [];
    events.emit('close');
    on.closed(why);
  }

  return {
    source: {
      on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
      pause() {
        isPaused = true;
      },
      resume() {
        isPaused = false;
        inMicrotask(() => {
          deliver();
          flush();
        });
      },
    },
    sink: {
      write(chunk) {
        if (isClosed || isEnding) return true;
        state.write(chunk);
        schedule();
        // Until `drain`, also if a write comes while acknowledgements have made some room: a writer that was told to wait is waiting for it.
        isFull ||= state.heldBytes >= limits.windowBytes;
        return !isFull;
      },
      cork() {},
      uncork() {},
      end: () => end('the connection was closed'),
      get writableLength() {
        return isClosed ? 0 : state.heldBytes;
      },
      // A failed write ends the link, which is reported by itself.
      on: (event: 'drain' | 'error', listener: (error: Error) => void) =>
        event === 'drain' ? events.on('drain', listener as () => void) : undefined,
    },
    receive(message) {
      if (isClosed) return;
      const received = state.receive(message);
      if (received.kind === 'stale') return;
      heardAt = clock.monotonicMs();
      if (received.kind === 'reset') return close(received.reason);
      if (received.kind === 'data') unread.push(received.bytes);
      if (received.kind === 'end') endedWhy = received.reason;
      deliver();
      schedule();
    },
    reset(why) {
      if (isClosed) return;
      bus.send(to, encodeMessage({ kind: 'reset', epoch, reason: why }));
      close(why);
    },
    end,
  };
}
