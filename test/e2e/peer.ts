// One end of a conversation in JSON lines without a library: it shows frames as they are, and can send invalid ones.
import type { Readable, Writable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
export type Json = any;

/** A line as received. `msg` is undefined when it is not JSON. */
export type Seen = { readonly line: string; readonly msg: Json; readonly index: number };

/** For a handler that leaves the answer to the test. */
export const UNANSWERED = Symbol('unanswered');

type Handler = (params: Json, msg: Json) => unknown;

/** A handler throws it to answer with an error. */
export class Refusal extends Error {
  readonly code: number;
  readonly data: Json;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Nothing came: fails the test that waits, wherever it waits. */
class Unheard extends Error {}

export type Peer = {
  readonly name: string;
  /** All received lines, in order. */
  readonly seen: readonly Seen[];
  /** Writes bytes without adding a line feed. */
  write(bytes: Buffer | string): void;
  line(text: string): void;
  send(message: object): void;
  notify(method: string, params?: Json): void;
  reply(request: Json, result: Json): void;
  /** The whole response, result or error. */
  request(method: string, params?: Json, id?: Json): Promise<Json>;
  /** The result; an error fails the test. */
  call(method: string, params?: Json, id?: Json): Promise<Json>;
  /** The error; a result fails the test. */
  refused(method: string, params?: Json, id?: Json): Promise<Json>;
  /** Handles requests and notifications of a method: the returned value is the result. `*` is the default. */
  on(method: string, handler: Handler): void;
  /** The first matching frame from index `from` on, past or future. */
  until(wanted: (msg: Json, seen: Seen) => boolean, from?: number): Promise<Seen>;
  /** The first request or notification of a method. */
  got(method: string, wanted?: (params: Json) => boolean, from?: number): Promise<Seen>;
  /** All requests and notifications of a method so far. */
  all(method: string, wanted?: (params: Json) => boolean): Seen[];
  answersTo(id: Json): Seen[];
  /** The updates of a session, in order. */
  updates(sessionId: string, kind?: string): Json[];
  /** The agent's text in a session. */
  agentText(sessionId: string): string;
  /** Looks at each line before it is kept, and drops those for which `swallow` returns true. For streams too long to keep. */
  sift(swallow: (line: string) => boolean): void;
  /** The index of a message in `seen`. */
  place(msg: Json): number;
};

export type AttachablePeer = Peer & {
  attach(input: Readable, output: Writable): void;
  /** Rejects all waits: nothing more will come. */
  abandon(why: string): void;
  push(chunk: Buffer): void;
};

/** Only guards against waiting without end: no passing test waits this long without a byte. */
const PATIENCE_MS = 25_000;

type Waiter = { readonly look: (seen: Seen) => void; readonly fail: (why: string) => void; readonly patience: NodeJS.Timeout };

export function createPeer(name: string, patienceMs = PATIENCE_MS): AttachablePeer {
  const seen: Seen[] = [];
  const waiters = new Set<Waiter>();
  const handlers = new Map<string, Handler>();
  let output: Writable | undefined;
  let pieces: Buffer[] = [];
  let nextId = 1000;
  let chunks = 0;
  let isOver: string | undefined;
  let swallow = (_line: string): boolean => false;

  function push(chunk: Buffer): void {
    chunks++;
    for (const { patience } of waiters) patience.refresh();
    let start = 0;
    for (let lf = chunk.indexOf(10); lf >= 0; lf = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, lf));
      const line = Buffer.concat(pieces).toString('utf8');
      pieces = [];
      start = lf + 1;
      if (line.trim() !== '' && !swallow(line)) received(line);
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  function received(line: string): void {
    const one: Seen = { line, msg: parsed(line), index: seen.length };
    seen.push(one);
    for (const { look } of [...waiters]) look(one);
    if (typeof one.msg?.method === 'string') void handle(one.msg);
  }
  async function handle(msg: Json): Promise<void> {
    const handler = handlers.get(msg.method) ?? handlers.get('*');
    if (!handler) return;
    try {
      const result = await handler(msg.params, msg);
      if (msg.id !== undefined && result !== UNANSWERED) peer.reply(msg, result ?? {});
    } catch (error) {
      if (error instanceof Unheard) return; // the caller that awaits this answer reports it
      if (!(error instanceof Refusal)) throw error;
      const { code, message, data } = error;
      if (msg.id !== undefined) peer.send({ jsonrpc: '2.0', id: msg.id, error: { code, message, ...(data !== undefined && { data }) } });
    }
  }
  function wait(wanted: (msg: Json, one: Seen) => boolean, from: number, what: string): Promise<Seen> {
    return quiet(
      new Promise((resolve, reject) => {
        const present = seen.find((one) => one.index >= from && one.msg !== undefined && wanted(one.msg, one));
        if (present) return resolve(present);
        const last = () =>
          seen
            .slice(-4)
            .map(({ line }) => `\n  ${line.slice(0, 300)}`)
            .join('');
        const fail = (why: string) => {
          over();
          reject(new Unheard(`${name} waited for ${what}: ${why}; the last of ${seen.length} frames it got:${last()}`));
        };
        // A timer fires before pending input is read: if this process was blocked, there may be some.
        const patience = setTimeout(() => {
          const chunksSeen = chunks;
          setImmediate(() => waiters.has(waiter) && chunks === chunksSeen && fail(`nothing came within ${patienceMs} ms`));
        }, patienceMs);
        const over = () => {
          clearTimeout(patience);
          waiters.delete(waiter);
        };
        const waiter: Waiter = {
          fail,
          patience,
          look(one) {
            if (one.index < from || one.msg === undefined || !wanted(one.msg, one)) return;
            over();
            resolve(one);
          },
        };
        waiters.add(waiter);
        if (isOver !== undefined) fail(isOver);
      }),
    );
  }

  const peer: AttachablePeer = {
    name,
    seen,
    attach(input, to) {
      isOver = undefined;
      output = to;
      pieces = [];
      to.on('error', () => {}); // a peer that hangs up is noticed by the missing answer
      input.on('data', push);
    },
    abandon(why) {
      isOver = why;
      for (const { fail } of [...waiters]) fail(why);
    },
    push,
    write(bytes) {
      if (!output) throw new Error(`${name} is not there yet`);
      output.write(bytes);
    },
    line: (text) => peer.write(`${text}\n`),
    send: (message) => peer.line(JSON.stringify(message)),
    notify: (method, params = {}) => peer.send({ jsonrpc: '2.0', method, params }),
    reply: (request, result) => peer.send({ jsonrpc: '2.0', id: request.id, result }),
    request(method, params = {}, id = nextId++) {
      const from = seen.length;
      const key = JSON.stringify(id);
      peer.send({ jsonrpc: '2.0', id, method, params });
      const isAnswer = (msg: Json) => msg.method === undefined && JSON.stringify(msg.id) === key;
      return quiet(wait(isAnswer, from, `the answer to ${method}`).then(({ msg }) => msg));
    },
    call(method, params, id) {
      return quiet(
        peer.request(method, params, id).then((msg) => {
          if (msg.result === undefined) throw new Error(`${method} was answered ${JSON.stringify(msg)}`);
          return msg.result;
        }),
      );
    },
    refused(method, params, id) {
      return quiet(
        peer.request(method, params, id).then((msg) => {
          if (msg.error === undefined) throw new Error(`${method} was not refused: ${JSON.stringify(msg)}`);
          return msg.error;
        }),
      );
    },
    on: (method, handler) => void handlers.set(method, handler),
    until: (wanted, from = 0) => wait(wanted, from, 'a frame'),
    got: (method, wanted = () => true, from = 0) => wait((msg) => msg.method === method && wanted(msg.params ?? {}), from, method),
    all: (method, wanted = () => true) => seen.filter(({ msg }) => msg?.method === method && wanted(msg.params ?? {})),
    answersTo(id) {
      const key = JSON.stringify(id);
      return seen.filter(({ msg }) => msg && msg.method === undefined && JSON.stringify(msg.id) === key);
    },
    updates: (sessionId, kind) =>
      peer
        .all('session/update', (params) => params.sessionId === sessionId)
        .map(({ msg }) => msg.params.update)
        .filter((update) => kind === undefined || update.sessionUpdate === kind),
    agentText: (sessionId) =>
      peer
        .updates(sessionId, 'agent_message_chunk')
        .map((update) => update.content.text)
        .join(''),
    sift(test) {
      swallow = test;
    },
    place: (msg) => seen.findIndex((one) => one.msg === msg),
  };
  return peer;
}

function parsed(line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A promise left behind by a failing test must not fail the run a second time. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
