// Puts byte streams around the hub: a connection to each client, and a shared proxy for each principal.
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { RunningProxy } from '../proxy/api.ts';
import type { Multiplexer } from '../proxy/boundary.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { type Connection, createConnection } from '../wire/connection.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import { createHub, type HubEvents } from './hub.ts';
import { type AttachedClient, type HubDeps, LIMITS, type Principal, type ProxyPort, type SharedProxy } from './state.ts';

export type Streams = { readonly input: Source; readonly output: Sink };

/** The proxy behind all clients of a principal. */
export type ServedProxy = {
  readonly ended: Promise<void>;
  readonly transcripts: TranscriptSource | undefined;
  readonly evaluatedRequest: RunningProxy['evaluatedRequest'];
  close(): Promise<void>;
};

export type ServeClientsOptions = {
  readonly scanner: Scanner;
  readonly maxFrameBytes: number;
  readonly openProxy: (streams: Streams, principal: Principal, multiplexer: Multiplexer) => ServedProxy;
  readonly refuses: HubDeps['refuses'];
  readonly isStored: (sessionId: string) => boolean;
  /** How long sessions wait for a client. */
  readonly graceMs: number;
  readonly offersAttach: boolean;
  /** Timers of the simulator; default: those of the system. */
  readonly after?: HubDeps['after'] | undefined;
  /** A session is live from now on. */
  readonly sessionAdded?: (() => void) | undefined;
};

export type ClientSummary = {
  readonly number: number;
  readonly principal: Principal;
  /** What it calls itself; undefined before initialize. */
  readonly program: string | undefined;
  readonly since: string;
  readonly sessions: readonly string[];
  disconnect(reason: string): void;
};

export type ServedClient = {
  readonly closed: Promise<string | undefined>;
  close(): Promise<void>;
  /** The policy's decision about an open request, by the id that the client knows. */
  readonly evaluatedRequest: RunningProxy['evaluatedRequest'];
  readonly number: number;
  leave(sessionId: string): void;
  prompts(sessionId: string): ReturnType<HubEvents['prompts']>;
};

export type ServedClients = {
  /** Serves a client until its stream ends. `closed` tells the reason if the hub ends it. */
  connect(streams: Streams, principal: Principal, isToldAll?: boolean): ServedClient;
  clients(): readonly ClientSummary[];
  /** Live sessions, and how many clients each has. */
  sessions(): readonly { readonly sessionId: string; readonly principal: string; readonly clients: number; readonly isRunning: boolean }[];
  /** Ends the sessions of a principal at once. */
  endPrincipal(name: string): void;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Stops every proxy. */
  close(): Promise<void>;
};

export function serveClients(options: ServeClientsOptions): ServedClients {
  const { scanner, maxFrameBytes, graceMs, offersAttach, isStored, refuses } = options;
  const sources = new Map<SharedProxy, ServedProxy>();
  const connections = new Map<AttachedClient, Connection>();
  const since = new WeakMap<AttachedClient, string>();
  const stopping = new Set<Promise<void>>();
  const transcriptsOf = (proxy: SharedProxy) => sources.get(proxy)?.transcripts;
  const hub = createHub({
    openProxy,
    mark: (proxy, sessionId) => transcriptsOf(proxy)?.mark(sessionId),
    history: (proxy, sessionId, upTo) =>
      transcriptsOf(proxy)
        ?.updates(sessionId, upTo)
        ?.map((update) => JSON.stringify(update)),
    refuses,
    isStored,
    after: options.after ?? unreferenced,
    graceMs,
    limits: LIMITS,
    offersAttach,
    sessionAdded: options.sessionAdded,
  });

  function openProxy(principal: Principal, shared: () => SharedProxy): ProxyPort {
    const toProxy = new PassThrough();
    const fromProxy = inProcessSink();
    const connection = createConnection(
      fromProxy.source,
      toProxy,
      { scanner, maxFrameBytes: Number.MAX_SAFE_INTEGER },
      {
        frame: (frame) => hub.fromProxy(shared(), frame),
        batch: (batch) => hub.batchFromProxy(shared(), batch),
        refused: () => {},
        oversized: () => {},
        end: () => {},
        // The proxy does not read: its clients wait.
        full: () => eachClient(shared(), (one) => one.pause()),
        drain: () => eachClient(shared(), (one) => one.resume()),
      },
    );
    const served = options.openProxy({ input: toProxy, output: fromProxy.sink }, principal, {
      promptBegan: (id, frame) => hub.promptBegan(shared(), id, frame),
      serves: (sessionId, method) => hub.serves(shared(), sessionId, method),
    });
    queueMicrotask(() => sources.set(shared(), served));
    void served.ended.then(() => hub.proxyEnded(shared()));
    return {
      ...connection.writer,
      pause: fromProxy.pause,
      resume: fromProxy.resume,
      close() {
        const stopped = served.close().finally(() => {
          stopping.delete(stopped);
          sources.delete(shared());
        });
        stopping.add(stopped);
      },
    };
  }
  function eachClient(proxy: SharedProxy, act: (connection: Connection) => void): void {
    for (const client of proxy.clients) {
      const connection = connections.get(client);
      if (connection) act(connection);
    }
  }

  return {
    connect({ input, output }, principal, isToldAll) {
      let finish = (_?: string) => {};
      const closed = new Promise<string | undefined>((resolve) => {
        finish = resolve;
      });
      const end = (reason?: string) => {
        connections.delete(client);
        hub.disconnect(client);
        finish(reason);
      };
      const connection = createConnection(
        input,
        output,
        { scanner, maxFrameBytes },
        {
          frame: (frame) => hub.fromClient(client, frame),
          refused: (refusal) => hub.refused(client, refusal),
          oversized: (frame) => hub.oversized(client, frame, maxFrameBytes),
          end: () => end(),
          error: () => end(),
          full: () => hub.full(client),
          drain: () => hub.drained(client),
        },
      );
      const client = hub.connect(principal, { ...connection.writer, end }, isToldAll);
      connections.set(client, connection);
      since.set(client, new Date().toISOString());
      const evaluatedRequest: RunningProxy['evaluatedRequest'] = (id) => {
        const asked = hub.asked(client, id);
        return asked && sources.get(asked.proxy)?.evaluatedRequest(asked.proxyId);
      };
      const { number } = client;
      const leave = (sessionId: string) => hub.leave(client, sessionId);
      return { closed, close: async () => end(), evaluatedRequest, number, leave, prompts: (sessionId) => hub.prompts(client, sessionId) };
    },
    clients: () =>
      hub.clients().map((client) => ({
        number: client.number,
        principal: client.principal,
        program: client.program,
        since: since.get(client) ?? '',
        sessions: [...client.sessions].map(({ id }) => id),
        disconnect: client.port.end,
      })),
    sessions: () =>
      hub.sessions().map(({ id, proxy, attached, turns }) => ({
        sessionId: id,
        principal: proxy.principal.name,
        clients: attached.size,
        isRunning: turns > 0,
      })),
    endPrincipal: hub.endPrincipal,
    cancelTurns: hub.cancelTurns,
    async close() {
      hub.close();
      await Promise.all(stopping);
    },
  };
}

function unreferenced(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/** The proxy's output goes to the hub in the same tick, as the bytes are. */
function inProcessSink(): { readonly source: Source; readonly sink: Sink; pause(): void; resume(): void } {
  const events = new EventEmitter();
  let isPaused = false;
  return {
    source: {
      on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
      pause() {},
      resume() {},
    },
    sink: {
      write(chunk) {
        events.emit('data', chunk);
        return !isPaused;
      },
      cork() {},
      uncork() {},
      end() {},
      writableLength: 0,
      on: (event: 'drain' | 'error', listener: (error: Error) => void) =>
        events.on(event === 'error' ? 'failed' : event, listener as () => void),
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      events.emit('drain');
    },
  };
}
