// Frames of a client: most go to the proxy of their session under an id of the hub. Opening a live session attaches to it.
import { OPENS_SESSION } from '../acp/methods.ts';
import { META_KEY } from '../acp/shapes.ts';
import { failure } from '../errors.ts';
import { resultLine } from '../proxy/json-rpc-lines.ts';
import { canonicalId } from '../router/pending-ids.ts';
import { type Frame, detach as ownCopy, type Span, textOf } from '../wire/frame.ts';
import { elements, memberAt } from '../wire/json-path.ts';
import { idTextOf, sessionIdOf, stringIn } from '../wire/scanner/large-frame.ts';
import type { Patch } from '../wire/writer.ts';
import { addSession, attachHere, confirm, openSession, waitFor } from './attach.ts';
import { forward, modeChanged, noteServers, refuse, resultOf } from './calls.ts';
import { detach, forget, waitForClient } from './detach.ts';
import { initialize, isInitializing } from './initialize.ts';
import { answered, cancelQuestions, isController } from './open-requests.ts';
import { notifyAware, showUpdate } from './show.ts';
import type { AttachedClient, Call, Hub, LiveSession, SharedProxy } from './state.ts';

/** What an observer may send. Loading is looking. */
const LOOKS: ReadonlySet<string> = new Set([
  'session/list',
  'session/load',
  'session/resume',
  'session/attach',
  'session/detach',
  'session/close',
  'auth/status',
]);

const OPENS: ReadonlySet<string> = new Set([...OPENS_SESSION, 'session/attach']);

export function fromClient(hub: Hub, client: AttachedClient, frame: Frame): void {
  if (client.isGone) return;
  if (frame.kind === 'response') return answered(hub, client, frame);
  if (frame.method === 'initialize' && frame.kind === 'request' && !isInitializing(client))
    return initialize(hub, client, frame, (isOpen) => released(hub, client, isOpen));
  if (client.held) return hold(hub, client, frame);
  if (frame.kind === 'notification') return notification(hub, client, frame);
  const idText = idTextOf(frame);
  if (idText !== 'null' && client.calls.has(canonicalId(idText))) return refuse(client, idText, failure('ID_IN_USE', [idText]));
  const most = hub.deps.limits.maxOpen;
  const tooMany =
    client.calls.size >= most ? 'requests' : OPENS.has(frame.method as string) && client.sessions.size >= most ? 'sessions' : undefined;
  if (tooMany) return refuse(client, idText, failure('TOO_MANY_OPEN', [tooMany, most, 'on this connection']));
  request(hub, client, frame, idText);
}

/** Before the answer to initialize, frames wait; before initialize itself, they are refused. */
function hold(hub: Hub, client: AttachedClient, frame: Frame): void {
  const { held } = client;
  if (!client.capabilities || !held) {
    if (frame.kind === 'request') refuse(client, idTextOf(frame), failure('NOT_INITIALIZED', [frame.method as string]));
    return;
  }
  held.frames.push(ownCopy(frame));
  held.bytes += frame.end - frame.start;
  if (held.bytes > hub.deps.limits.maxHeldBytes) client.port.end('too much data before the answer to initialize');
}

function released(hub: Hub, client: AttachedClient, isOpen: boolean): void {
  const frames = client.held?.frames ?? [];
  client.held = isOpen ? undefined : { frames: [], bytes: 0 };
  if (!isOpen) client.capabilities = undefined;
  for (const frame of frames) if (!client.isGone) fromClient(hub, client, frame);
}

/** The live session that a client means: of its own principal, or any if its role sees all. */
export function findSession(hub: Hub, { proxy, principal }: AttachedClient, sessionId: string | undefined): LiveSession | undefined {
  if (sessionId === undefined) return undefined;
  const own = proxy.sessions.get(sessionId);
  if (own || principal.role === 'client') return own;
  const found = [...hub.proxies.values()].flatMap(({ sessions }) => sessions.get(sessionId) ?? []);
  // A client may be trying to open a session that is not its own.
  return found.find(({ isConfirmed }) => isConfirmed) ?? found[0];
}

function request(hub: Hub, client: AttachedClient, frame: Frame, idText: string): void {
  const method = frame.method as string;
  if (!isController(client) && !LOOKS.has(method)) return refuse(client, idText, failure('OBSERVER', [method], { method }));
  const sessionId = sessionIdOf(frame);
  const session = findSession(hub, client, sessionId);
  switch (method) {
    case 'session/load':
    case 'session/resume':
    case 'session/attach':
      if (method === 'session/attach' && !hub.deps.offersAttach) break;
      return openSession(hub, client, frame, session, (kept) => fromClient(hub, client, kept));
    case 'session/detach':
      if (!hub.deps.offersAttach) break;
      if (session) detach(hub, client, session);
      return client.port.line(resultLine(idText, JSON.stringify({ sessionId, status: 'detached' })));
    case 'session/close':
      if (session && (!isController(client) || hasOtherController(session, client))) {
        detach(hub, client, session);
        return client.port.line(resultLine(idText, '{}'));
      }
      if (!isController(client)) {
        hub.watching.get(sessionId ?? '')?.delete(client);
        return client.port.line(resultLine(idText, '{}'));
      }
      return endBy(hub, client, frame, session);
    case 'session/delete':
      return endBy(hub, client, frame, session);
    case 'session/new':
    case 'session/fork': {
      const proxy = session?.proxy ?? client.proxy;
      const kept = ownCopy(frame);
      return void forward(client, hub, proxy, frame, { session, before: (answer) => created(hub, client, proxy, kept, answer) });
    }
    default:
  }
  if (sessionId === undefined) return void forward(client, hub, client.proxy, frame, {});
  inSession(hub, client, frame, session ?? addSession(hub, client.proxy, sessionId, client));
}

const hasOtherController = ({ attached }: LiveSession, client: AttachedClient): boolean =>
  [...attached].some((other) => other !== client && isController(other));

/** The answer to session/new or session/fork. Its client may be gone; then the session waits for another. */
function created(hub: Hub, client: AttachedClient, proxy: SharedProxy, request: Frame, answer: Frame): void {
  const sessionId = answer.outcome === 'result' ? sessionIdOf(answer) : undefined;
  if (sessionId === undefined) return;
  const session = addSession(hub, proxy, sessionId, client, true);
  session.opened = resultOf(answer);
  noteServers(proxy, client, request);
  confirm(hub, session);
}

/** Others who come meanwhile wait for the end. */
function endBy(hub: Hub, client: AttachedClient, frame: Frame, session: LiveSession | undefined): void {
  if (session?.loading || session?.isEnding) return waitFor(session, frame, (kept) => fromClient(hub, client, kept));
  if (session) session.isEnding = true;
  forward(client, hub, session?.proxy ?? client.proxy, frame, {
    session,
    after(answer) {
      if (session && answer.outcome === 'result') return forget(hub, session);
      if (!session) return;
      session.isEnding = false;
      for (const again of session.whenEnded.splice(0)) again();
      waitForClient(hub, session);
    },
  });
}

/** A request in a session. A client that uses a session is attached to it. */
function inSession(hub: Hub, client: AttachedClient, frame: Frame, session: LiveSession): void {
  if (session.loading || session.isEnding) return waitFor(session, frame, (kept) => fromClient(hub, client, kept));
  attachHere(hub, client, session);
  const { method } = frame;
  if (method === 'session/prompt') return prompt(hub, client, frame, session);
  const kept = ownCopy(frame);
  forward(client, hub, session.proxy, frame, { session, after: (answer) => set(session, client, kept, answer) });
}

function prompt(hub: Hub, client: AttachedClient, frame: Frame, session: LiveSession): void {
  session.turns++;
  const call: Call = forward(client, hub, session.proxy, frame, { session, after: (answer) => turnEnded(hub, session, call, answer) });
}

/** The agent has a prompt. The others see it as a message of the user; its sender does not. */
export function promptBegan(proxy: SharedProxy, id: string, { bytes, body }: Frame): void {
  const call = proxy.calls.get(id);
  const { session, client } = call ?? {};
  if (!call || !session || call.hasBegun) return;
  call.hasBegun = true;
  const list = memberAt(bytes, body, 'prompt');
  for (const block of list ? elements(bytes, list.start) : [])
    showUpdate(session, `{"sessionUpdate":"user_message_chunk","content":${textOf(bytes, block)}}`, client);
  notifyAware(session, { sessionUpdate: 'prompt_received', sentBy: String(client?.number) }, client?.isToldAll ? undefined : client);
}

function turnEnded(hub: Hub, session: LiveSession, { client, hasBegun }: Call, answer: Frame): void {
  session.turns--;
  const stopReason = answer.outcome === 'result' ? stringIn(answer, 'stopReason') : 'error';
  if (hasBegun) notifyAware(session, { sessionUpdate: 'turn_complete', stopReason }, client?.isGone ? undefined : client);
  if (session.turns > 0 || session.log.bytes < hub.deps.limits.trimLogBytes) return;
  const mark = hub.deps.mark(session.proxy, session.id);
  if (mark !== undefined) session.log.replacedBy(mark);
}

/** Only the asker has the answer to a setter, so the others get its effect as an update. */
function set(session: LiveSession, client: AttachedClient, frame: Frame, answer: Frame): void {
  if (answer.outcome !== 'result') return;
  if (frame.method === 'session/set_mode') {
    const modeId = stringIn(frame, 'modeId');
    if (modeId === undefined) return;
    modeChanged(session, modeId);
    showUpdate(session, JSON.stringify({ sessionUpdate: 'current_mode_update', currentModeId: modeId }), client);
  }
  if (frame.method === 'session/set_config_option') {
    const { configOptions } = resultOf(answer);
    if (configOptions === undefined) return;
    session.opened = { ...session.opened, configOptions };
    showUpdate(session, JSON.stringify({ sessionUpdate: 'config_option_update', configOptions }), client);
  }
}

function notification(hub: Hub, client: AttachedClient, frame: Frame): void {
  if (frame.method === '$/cancel_request') return cancelRequest(client, frame);
  if (!isController(client)) return;
  const session = findSession(hub, client, sessionIdOf(frame));
  if (!session) return client.proxy.port.frame(frame);
  attachHere(hub, client, session);
  if (frame.method !== 'session/cancel') return session.proxy.port.frame(frame);
  const others = promptsOf(session).filter((call) => call.client !== client);
  session.proxy.port.frame(frame, others.length > 0 ? [keepPatch(frame, others)] : undefined);
  cancelQuestions(session, client);
}

export const promptsOf = (session: LiveSession): readonly Call[] =>
  [...session.proxy.calls.values()].filter((call) => call.session === session && call.method === 'session/prompt');

/** A cancel ends the running turn and what its sender has queued. It tells the proxy which prompts are not the sender's. */
function keepPatch({ bytes, body }: Frame, others: readonly Call[]): Patch {
  const own = `{"keep":[${others.map(({ id }) => id)}]}`;
  const named = `${JSON.stringify(META_KEY)}:${own}`;
  const before = memberAt(bytes, body, '_meta', META_KEY);
  if (before) return { span: before, text: own };
  const meta = memberAt(bytes, body, '_meta');
  if (meta) {
    const isEmpty = !/^\{\s*"/.test(textOf(bytes, meta));
    return isEmpty ? { span: meta, text: `{${named}}` } : { span: { start: meta.start, end: meta.start + 1 }, text: `{${named},` };
  }
  const { end } = body as Span;
  return { span: { start: end - 1, end }, text: `,"_meta":{${named}}}` };
}

/** The proxy knows the request by our id. */
function cancelRequest(client: AttachedClient, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const call = span && client.calls.get(canonicalId(textOf(frame.bytes, span)));
  if (!span || !call) return;
  const patches: Patch[] = [{ span, text: call.id }];
  call.proxy.port.frame(frame, patches);
}
