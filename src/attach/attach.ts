// A client opens a session. If it is live, the client attaches: it gets the history, the answer, the open requests and then what follows, in this
// order and without a gap, because nothing else happens in between.
import { META_KEY } from '../acp/shapes.ts';
import { failure } from '../errors.ts';
import { notificationLine, resultLine, updateLine } from '../proxy/json-rpc-lines.ts';
import { type Frame, detach as ownCopy, textOf } from '../wire/frame.ts';
import { memberAt } from '../wire/json-path.ts';
import { idTextOf, sessionIdOf, stringIn } from '../wire/scanner/large-frame.ts';
import { forward, noteServers, refuse, resultOf } from './calls.ts';
import { isLesser, lacks, withoutBooleans } from './degrade.ts';
import { forget, waitForClient } from './detach.ts';
import { askAgain, isController } from './open-requests.ts';
import { createSessionLog } from './session-log.ts';
import { notifyAware, showLog } from './show.ts';
import type { AttachedClient, Hub, LiveSession, SharedProxy } from './state.ts';

/** session/load, session/resume and session/attach. */
export function openSession(
  hub: Hub,
  client: AttachedClient,
  frame: Frame,
  session: LiveSession | undefined,
  again: (kept: Frame) => void,
): void {
  const sessionId = sessionIdOf(frame);
  const method = frame.method as string;
  const idText = idTextOf(frame);
  if (session?.loading || session?.isEnding || session?.isConfirmed === false) {
    // What comes meanwhile is part of the history that it will get.
    hub.watching.get(session.id)?.delete(client);
    session.attached.delete(client);
    client.sessions.delete(session);
    return waitFor(session, frame, again);
  }
  const refusal = session && hub.deps.refuses(client.principal, frame);
  if (refusal) return refuse(client, idText, refusal);
  if (session) return join(hub, client, frame, session);
  const isLoad = method !== 'session/resume';
  if (!isController(client)) return watch(hub, client, idText, sessionId ?? '', isLoad);
  if (method === 'session/attach') return refuse(client, idText, failure('NOT_LIVE', [sessionId ?? ''], { sessionId }));
  if (sessionId === undefined) return void forward(client, hub, client.proxy, frame, {});
  const isAware = wantsNews(frame);
  const opening = addSession(hub, client.proxy, sessionId, client, isLoad);
  opening.loading = [];
  const kept = ownCopy(frame);
  forward(client, hub, client.proxy, frame, {
    session: opening,
    before(answer) {
      if (answer.outcome !== 'result') return;
      opening.opened = resultOf(answer);
      noteServers(opening.proxy, client, kept);
    },
    after(answer) {
      if (isAware && !client.isGone) client.aware.add(opening);
      opened(hub, opening, answer.outcome === 'result', isLoad);
    },
  });
}

/** Handles the frame again when the session is open, or gone. */
export function waitFor({ loading, isEnding, whenEnded, whenConfirmed }: LiveSession, frame: Frame, again: (kept: Frame) => void): void {
  const kept = ownCopy(frame);
  (isEnding ? whenEnded : (loading ?? whenConfirmed)).push(() => again(kept));
}

function opened(hub: Hub, session: LiveSession, isOpen: boolean, isReplayed: boolean): void {
  const waiting = session.loading ?? [];
  session.loading = undefined;
  if (isOpen) {
    confirm(hub, session, isReplayed);
    waitForClient(hub, session);
  } else forget(hub, session);
  for (const again of waiting) again();
}

/** The history of a session that is not live, for an observer. It sees what follows if the session is opened. */
function watch(hub: Hub, client: AttachedClient, idText: string, sessionId: string, isReplayed: boolean): void {
  const history = hub.deps.history(client.proxy, sessionId, undefined);
  if (!history && !hub.deps.isStored(sessionId)) return refuse(client, idText, failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  if (isReplayed) for (const update of history ?? []) client.port.line(replayed(sessionId, update));
  client.port.line(resultLine(idText, JSON.stringify({ _meta: { [META_KEY]: { attached: true, turn: 'idle' } } })));
  const watchers = hub.watching.get(sessionId) ?? new Set();
  hub.watching.set(sessionId, watchers.add(client));
}

const replayed = (sessionId: string, updateText: string): string =>
  notificationLine(
    'session/update',
    `{"sessionId":${JSON.stringify(sessionId)},"update":${updateText},"_meta":{"${META_KEY}":{"replay":"transcript"}}}`,
  );

function join(hub: Hub, client: AttachedClient, frame: Frame, session: LiveSession): void {
  const method = frame.method as string;
  const idText = idTextOf(frame);
  const policy = method === 'session/attach' ? (stringIn(frame, 'historyPolicy') ?? 'full') : method === 'session/load' ? 'full' : 'none';
  add(client, session);
  if (policy === 'full') replay(hub, client, session);
  if (wantsNews(frame)) client.aware.add(session);
  if (method === 'session/attach') {
    client.aware.add(session);
    const connectedClients = session.attached.size;
    const result = {
      sessionId: session.id,
      clientId: String(client.number),
      historyPolicy: policy === 'full' ? 'full' : 'pending_only',
      connectedClients,
    };
    client.port.line(resultLine(idText, JSON.stringify(result)));
  } else client.port.line(resultLine(idText, JSON.stringify(openResult(client, session))));
  askAgain(hub, client, session);
}

/** Our own clients ask with session/load for the updates of session/attach. */
function wantsNews({ bytes, body }: Frame): boolean {
  const span = memberAt(bytes, body, '_meta', META_KEY, 'attach');
  return span !== undefined && textOf(bytes, span) === 'true';
}

function openResult(client: AttachedClient, { opened, turns, attached, proxy }: LiveSession): Readonly<Record<string, unknown>> {
  const { sessionId: _, _meta, ...result } = lacks(client, proxy, 'booleanOptions') ? withoutBooleans(opened) : opened;
  const own = { attached: true, clients: attached.size, turn: turns > 0 ? 'running' : 'idle' };
  const meta = typeof _meta === 'object' && _meta !== null ? (_meta as Readonly<Record<string, unknown>>) : {};
  const before = typeof meta[META_KEY] === 'object' ? (meta[META_KEY] as object) : {};
  return { ...result, _meta: { ...meta, [META_KEY]: { ...before, ...own } } };
}

function replay({ deps }: Hub, client: AttachedClient, session: LiveSession): void {
  const { port } = client;
  const { id, log, proxy } = session;
  if (log.before !== undefined) for (const update of deps.history(proxy, id, log.before) ?? []) port.line(replayed(id, update));
  if (log.omittedBytes > 0) {
    const text = `${log.omittedBytes} bytes of this turn are not shown`;
    port.line(updateLine(id, JSON.stringify({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })));
  }
  showLog(client, session);
}

function add(client: AttachedClient, session: LiveSession): void {
  session.attached.add(client);
  client.sessions.add(session);
  if (client.isToldAll) client.aware.add(session);
  if (isLesser(client, session.proxy)) session.lesser.add(client);
  if (!isController(client)) return;
  session.stopGrace?.();
  session.stopGrace = undefined;
  notifyAware(
    session,
    { sessionUpdate: 'client_connected', clientId: String(client.number), connectedClients: session.attached.size },
    client,
  );
}

/** A client uses a session without having opened it: it sees what follows. */
export function attachHere(hub: Hub, client: AttachedClient, session: LiveSession): void {
  if (session.attached.has(client)) return;
  add(client, session);
  askAgain(hub, client, session);
}

/** `isWhole`: what clients see from now on is the whole history. Else the transcript has what was before. */
export function addSession(hub: Hub, proxy: SharedProxy, sessionId: string, client: AttachedClient, isWhole = false): LiveSession {
  const before = isWhole ? undefined : (hub.deps.mark(proxy, sessionId) ?? undefined);
  const session: LiveSession = {
    id: sessionId,
    proxy,
    attached: new Set(),
    lesser: new Set(),
    log: createSessionLog(hub.deps.limits.maxLogBytes, before),
    maxObserverBytes: hub.deps.limits.maxObserverBytes,
    loading: undefined,
    host: client.isGone ? undefined : client,
    opened: {},
    questions: new Set(),
    turns: 0,
    isEnding: false,
    isConfirmed: false,
    whenConfirmed: [],
    whenEnded: [],
    stopGrace: undefined,
  };
  proxy.sessions.set(sessionId, session);
  hub.deps.sessionAdded?.();
  if (client.isGone) waitForClient(hub, session);
  else add(client, session);
  return session;
}

/** The proxy lets the session be used, so others may attach. `isReplayed`: the log is not news, but the history that observers have already. */
export function confirm(hub: Hub, session: LiveSession, isReplayed = false): void {
  session.isConfirmed = true;
  for (const watcher of hub.watching.get(session.id) ?? []) {
    add(watcher, session);
    if (!isReplayed) showLog(watcher, session);
  }
  hub.watching.delete(session.id);
  for (const again of session.whenConfirmed.splice(0)) again();
}
