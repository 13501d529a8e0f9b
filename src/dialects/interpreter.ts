// Puts a dialect between an agent's streams and its connection: lines in, messages through the dialect's functions, lines out.

import { type Streams, sinkThrough, sourceThrough } from '../wire/byte-stream.ts';
import { LF } from '../wire/frame.ts';
import { createLineSplitter } from '../wire/framing/ndjson.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import type { About, Dialect, DialectEvent, Step } from './dialect.ts';
import { failed, lineOf, type Message, readMessage } from './message.ts';

export type Surroundings = {
  readonly scanner: Scanner;
  readonly maxFrameBytes: number;
  /** Calls back later; the returned function cancels it. */
  readonly after: (ms: number, then: () => void) => () => void;
  readonly remark: (message: string, level?: 'debug') => void;
  readonly kill: () => void;
};

export type Interpreted = Streams & {
  /** Call it when the agent's process exits, before anyone else is notified. */
  exited(code: number | null): void;
  /** Cancels all timers. */
  stop(): void;
};

/** Per agent process; more would flood the log. */
const MAX_REMARKS = 50;
const FILLER = Buffer.alloc(64 * 1024, ' ');

export function interpret(streams: Streams, dialect: Dialect, about: About, around: Surroundings): Interpreted {
  let state: unknown = dialect.begin(about);
  let isOver = false;
  let remarks = 0;
  const alarms = new Map<string, () => void>();
  let emit: (bytes: Buffer) => void = () => {};
  /** Messages to the agent while the connection writes; undefined otherwise. */
  let collected: Buffer[] | undefined;

  function take(step: Step<unknown>, came?: { readonly message: Message; readonly bytes: Buffer }): void {
    state = step.state;
    for (const message of step.remarks ?? []) if (remarks++ < MAX_REMARKS) around.remark(message);
    for (const message of step.details ?? []) around.remark(message, 'debug');
    const bytesOf = (message: Message, isBare?: boolean) => (message === came?.message ? came.bytes : Buffer.from(lineOf(message, isBare)));
    const parts = (step.toAgent ?? []).map((message) => bytesOf(message, dialect.isBare));
    if (collected) collected.push(...parts);
    else if (parts.length > 0) streams.toAgent.write(Buffer.concat(parts));
    for (const message of step.toClient ?? []) emit(bytesOf(message));
    for (const [name, ms] of Object.entries(step.alarms ?? {})) {
      alarms.get(name)?.();
      alarms.delete(name);
      if (ms !== undefined && !isOver)
        alarms.set(
          name,
          around.after(ms, () => rung(name)),
        );
    }
    if (step.kill) around.kill();
  }
  /** An error in the dialect costs only this message or event, and the requester gets an error. */
  function attempted(translate: () => Step<unknown>, what: Message | DialectEvent, answer?: 'toClient' | 'toAgent'): Step<unknown> {
    try {
      return translate();
    } catch (error) {
      const why = `a message could not be translated: ${(error as Error).message}`;
      const remarks = [`${why} (agent "${about.agent}")`];
      return { state, remarks, ...(answer && what.kind === 'request' && { [answer]: [failed(what.id, -32603, why)] }) };
    }
  }
  const notified = (event: DialectEvent): Step<unknown> | undefined =>
    dialect.on && attempted(() => dialect.on?.(state, event) ?? { state }, event);
  function rung(name: string): void {
    alarms.delete(name);
    happened({ kind: 'alarm', name });
  }
  function happened(event: DialectEvent): void {
    const step = isOver ? undefined : notified(event); // a stop that the switchboard requested is no event
    if (step) take(step);
  }
  function stop(): void {
    isOver = true;
    for (const cancel of alarms.values()) cancel();
    alarms.clear();
  }

  const fromAgent = sourceThrough(streams.fromAgent, (out) => {
    emit = out;
    const splitter = createLineSplitter({
      maxFrameBytes: around.maxFrameBytes,
      onLines: eachLine((bytes, start, end) => {
        const line = bytes.subarray(start, end + 1);
        const message = readMessage(around.scanner, bytes, start, end);
        if (message)
          return take(
            attempted(() => dialect.toAcp(state, message), message, 'toAgent'),
            { message, bytes: line },
          );
        const step = notified({ kind: 'noise', line: bytes.toString('utf8', start, end) });
        if (step?.remarks) take(step);
        else out(line); // the connection reports what is wrong with it
      }),
      // Keep the length, so that the connection sees an oversized frame and whose it is.
      onOversized({ head, tail, bytes }) {
        out(head);
        for (let left = bytes - head.length - tail.length; left > 0; left -= FILLER.length) out(FILLER.subarray(0, left));
        out(tail.at(-1) === LF ? tail : Buffer.concat([tail, Buffer.of(LF)]));
      },
    });
    return {
      push: splitter.push,
      end() {
        splitter.end();
        happened({ kind: 'eof' });
      },
    };
  });
  const splitter = createLineSplitter({
    maxFrameBytes: Number.POSITIVE_INFINITY,
    onOversized: () => {},
    onLines: eachLine((bytes, start, end) => {
      const message = readMessage(around.scanner, bytes, start, end);
      const came = bytes.subarray(start, end + 1);
      if (message)
        take(
          attempted(() => dialect.toAgent(state, message), message, 'toClient'),
          { message, bytes: came },
        );
    }),
  });
  const toAgent = sinkThrough(streams.toAgent, (chunk) => {
    collected = [];
    splitter.push(chunk);
    const parts = collected;
    collected = undefined;
    return parts;
  });
  toAgent.on('error', () => happened({ kind: 'unwritable' }));
  return {
    fromAgent,
    toAgent,
    exited(code) {
      happened({ kind: 'exit', code });
      stop();
    },
    stop,
  };
}

function eachLine(handle: (bytes: Buffer, start: number, end: number) => void) {
  return (bytes: Buffer, start: number, end: number): void => {
    for (let at = start; at < end; ) {
      const lf = bytes.indexOf(LF, at);
      if (lf > at && bytes.toString('latin1', at, lf).trim() !== '') handle(bytes, at, lf);
      at = lf + 1;
    }
  };
}
