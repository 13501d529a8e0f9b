// The client multiplexer of the daemon: many clients attach to the sessions of one proxy, which outlive them. To the proxy, they are one client.
// No I/O, clock or randomness here: all of that is passed in.

import { failure } from '../errors.ts';
import { errorLine } from '../proxy/json-rpc-lines.ts';
import type { OversizedFrame } from '../wire/connection.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import type { Refusal } from '../wire/scanner/strict-parse.ts';
import { cancelTurn, detach, detachAll, endSession, releaseIfIdle } from './detach.ts';
import { findSession, fromClient, promptBegan, promptsOf } from './from-client.ts';
import { batchFromProxy, fromProxy, proxyEnded } from './from-proxy.ts';
import { clientGone, findAsked, serves } from './open-requests.ts';
import {
  type AttachedClient,
  type ClientPort,
  type Hub,
  type HubDeps,
  keyOf,
  type LiveSession,
  type Principal,
  type Question,
  type SharedProxy,
} from './state.ts';

export type HubEvents = {
  connect(principal: Principal, port: ClientPort, isToldAll?: boolean): AttachedClient;
  fromClient(client: AttachedClient, frame: Frame): void;
  /** A line of a client that cannot be used. */
  refused(client: AttachedClient, refusal: Refusal): void;
  oversized(client: AttachedClient, frame: OversizedFrame, limit: number): void;
  disconnect(client: AttachedClient): void;
  /** Whether a client reads. */
  full(client: AttachedClient): void;
  drained(client: AttachedClient): void;
  fromProxy(proxy: SharedProxy, frame: Frame): void;
  batchFromProxy(proxy: SharedProxy, batch: FrameBatch): boolean;
  proxyEnded(proxy: SharedProxy): void;
  /** The agent has the prompt that the hub sent with this id. */
  promptBegan(proxy: SharedProxy, id: string, frame: Frame): void;
  /** Whether a client takes a request for files or a new terminal. */
  serves(proxy: SharedProxy, sessionId: string, method: string): boolean;
  /** The client leaves a session, as if its connection had ended. */
  leave(client: AttachedClient, sessionId: string): void;
  /** The open prompts of a session: those of the client by the ids that the proxy knows, and how many others there are. */
  prompts(client: AttachedClient, sessionId: string): { readonly own: readonly string[]; readonly others: number };
  /** The open request that a client knows by this id. */
  asked(client: AttachedClient, id: string): Pick<Question, 'proxy' | 'proxyId'> | undefined;
  clients(): readonly AttachedClient[];
  sessions(): readonly LiveSession[];
  /** Ends the sessions of a principal, with their turns. */
  endPrincipal(name: string): void;
  /** Cancels every running turn; its session stays open. */
  cancelTurns(): void;
  /** Ends all proxies. */
  close(): void;
};

export function createHub(deps: HubDeps): HubEvents {
  let lastId = 0;
  let count = 0;
  const hub: Hub = {
    deps,
    proxies: new Map(),
    clients: new Set(),
    watching: new Map(),
    nextId: () => String(++lastId),
  };

  function proxyOf(principal: Principal): SharedProxy {
    const known = hub.proxies.get(keyOf(principal));
    if (known && !known.isClosed) return known;
    const proxy: SharedProxy = {
      principal,
      port: deps.openProxy(principal, () => proxy),
      clients: new Set(),
      sessions: new Map(),
      calls: new Map(),
      questions: new Map(),
      servers: new Map(),
      terminals: new Map(),
      shownTerminals: new Map(),
      offered: undefined,
      full: new Set(),
      initialized: { waiting: new Map(), isAsked: false },
      isClosed: false,
    };
    hub.proxies.set(keyOf(principal), proxy);
    return proxy;
  }
  /** The line was no request that could be passed on. If it was an answer, its asker gets the error. */
  function unusable(client: AttachedClient, kind: Refusal['kind'], idText: string | undefined, error: ReturnType<typeof failure>): void {
    if (kind !== 'response') return client.port.line(errorLine(kind === 'request' && idText !== undefined ? idText : 'null', error));
    for (const proxy of hub.proxies.values())
      for (const question of proxy.questions.values())
        if (question.asked.get(client) === idText && !question.isForAll) {
          proxy.questions.delete(question.proxyId);
          question.session?.questions.delete(question);
          proxy.port.line(errorLine(question.proxyId, error));
        }
  }

  return {
    connect(principal, port, isToldAll = false) {
      const proxy = proxyOf(principal);
      const client: AttachedClient = {
        number: ++count,
        principal,
        port,
        proxy,
        sessions: new Set(),
        calls: new Map(),
        program: undefined,
        capabilities: undefined,
        held: { frames: [], bytes: 0 },
        aware: new Set(),
        isToldAll,
        isGone: false,
      };
      proxy.clients.add(client);
      hub.clients.add(client);
      return client;
    },
    fromClient: (client, frame) => {
      if (!client.isGone) fromClient(hub, client, frame);
    },
    refused: (client, { why, reason, kind, idText }) =>
      unusable(client, kind, idText, failure(why === 'broken' ? 'PARSE' : why === 'foreign' ? 'NOT_A_MESSAGE' : 'AMBIGUOUS', [reason])),
    oversized: (client, { kind, idText }, limit) => unusable(client, kind, idText, failure('FRAME_TOO_LONG', [limit])),
    disconnect(client) {
      if (client.isGone) return;
      client.isGone = true;
      hub.clients.delete(client);
      const { proxy } = client;
      proxy.clients.delete(client);
      if ('waiting' in proxy.initialized) proxy.initialized.waiting.delete(client);
      for (const watchers of hub.watching.values()) watchers.delete(client);
      for (const one of hub.proxies.values()) drained(one, client);
      detachAll(hub, client);
      clientGone(hub, client);
      releaseIfIdle(hub, proxy);
    },
    full(client) {
      // An observer never holds up a turn. It is disconnected when its queue is full.
      if (client.principal.role === 'observer') return;
      for (const proxy of new Set([client.proxy, ...[...client.sessions].map((session) => session.proxy)])) {
        if (proxy.full.size === 0) proxy.port.pause();
        proxy.full.add(client);
      }
    },
    drained(client) {
      for (const proxy of hub.proxies.values()) drained(proxy, client);
    },
    fromProxy: (proxy, frame) => fromProxy(hub, proxy, frame),
    batchFromProxy: (proxy, batch) => batchFromProxy(proxy, batch),
    proxyEnded: (proxy) => proxyEnded(hub, proxy),
    promptBegan,
    serves,
    leave(client, sessionId) {
      const session = [...client.sessions].find(({ id }) => id === sessionId);
      if (session) detach(hub, client, session);
    },
    prompts(client, sessionId) {
      const session = findSession(hub, client, sessionId);
      const all = session ? promptsOf(session) : [];
      const own = all.filter((call) => call.client === client).map(({ id }) => id);
      return { own, others: all.length - own.length };
    },
    asked: (client, id) => findAsked(hub, client, id),
    clients: () => [...hub.clients],
    sessions: () => [...hub.proxies.values()].flatMap(({ sessions }) => [...sessions.values()]),
    endPrincipal(name) {
      for (const { principal, sessions } of hub.proxies.values())
        if (principal.name === name) for (const session of sessions.values()) endSession(hub, session);
    },
    cancelTurns() {
      for (const { sessions, isClosed } of hub.proxies.values())
        if (!isClosed) for (const session of sessions.values()) if (session.turns > 0) cancelTurn(session);
    },
    close() {
      for (const proxy of hub.proxies.values()) {
        for (const session of proxy.sessions.values()) session.stopGrace?.();
        proxy.isClosed = true;
        proxy.port.close();
      }
    },
  };
}

function drained({ full, port }: SharedProxy, client: AttachedClient): void {
  if (full.delete(client) && full.size === 0) port.resume();
}
