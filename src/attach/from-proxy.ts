// Frames of a shared proxy: answers go to their asker, requests to whom `questions.ts` says, everything else to all clients of the session.

import { resultLine } from '../proxy/json-rpc-lines.ts';
import { isNeverActedOn, kindActedOn } from '../proxy/turns/session-update.ts';
import { canonicalId } from '../router/pending-ids.ts';
import { type Frame, type Span, textOf } from '../wire/frame.ts';
import { memberAt, stringAt } from '../wire/json-path.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import { endOf } from '../wire/scanner/frame-batch.ts';
import { briefOf, idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import { confirm } from './attach.ts';
import { modeChanged, resultOf } from './calls.ts';
import { lacks, withoutBooleans } from './degrade.ts';
import { forget, releaseIfIdle } from './detach.ts';
import { ask, isController, withdrawn } from './open-requests.ts';
import { show, showBatch } from './show.ts';
import { type AttachedClient, type Call, type Hub, keyOf, type LiveSession, type SharedProxy } from './state.ts';

export function fromProxy(hub: Hub, proxy: SharedProxy, frame: Frame): void {
  if (frame.kind === 'response') return answer(hub, proxy, frame);
  if (frame.kind === 'request') return ask(hub, proxy, frame);
  if (frame.method === '$/cancel_request') {
    const span = memberAt(frame.bytes, frame.body, 'requestId');
    if (span) withdrawn(proxy, textOf(frame.bytes, span));
    return;
  }
  const session = proxy.sessions.get(sessionIdOf(frame) ?? '');
  if (!session) {
    // Of no session, or of one that an agent made for itself.
    for (const client of proxy.clients) if (isController(client) && !client.held) client.port.frame(frame);
    return;
  }
  if (frame.method === 'session/update') {
    if (!session.isConfirmed && !session.loading) confirm(hub, session);
    session.log.add(frame.bytes, frame.start, frame.end + 1);
    note(session, frame);
  }
  show(session, frame);
}

/** False if each frame must be looked at. */
export function batchFromProxy(proxy: SharedProxy, batch: FrameBatch): boolean {
  const { first } = batch;
  if (batch.sessions || first.method !== 'session/update' || !isNeverActedOn(first)) return false;
  const session = proxy.sessions.get(sessionIdOf(first) ?? '');
  if (!session || (session.lesser.size > 0 && !isChunk(first))) return false;
  session.log.add(first.bytes, first.start, endOf(batch));
  showBatch(session, batch);
  return true;
}

/** Every client can take these. */
function isChunk({ bytes, body }: Frame): boolean {
  const kind = stringAt(bytes, memberAt(bytes, body, 'update', 'sessionUpdate'));
  return kind === 'agent_message_chunk' || kind === 'agent_thought_chunk' || kind === 'user_message_chunk';
}

/** What the answer to the next session/load must say. */
function note(session: LiveSession, frame: Frame): void {
  const kind = kindActedOn(frame);
  if (kind !== 'current_mode_update' && kind !== 'config_option_update') return;
  const { bytes, body } = briefOf(frame);
  if (kind === 'current_mode_update') {
    const modeId = stringAt(bytes, memberAt(bytes, body, 'update', 'currentModeId'));
    if (modeId !== undefined) modeChanged(session, modeId);
    return;
  }
  const options = memberAt(frame.bytes, frame.body, 'update', 'configOptions');
  if (options) session.opened = { ...session.opened, configOptions: JSON.parse(textOf(frame.bytes, options)) };
}

function answer(hub: Hub, proxy: SharedProxy, frame: Frame): void {
  const id = idTextOf(frame);
  const call = proxy.calls.get(id);
  if (!call) return;
  proxy.calls.delete(id);
  call.before?.(frame);
  const { client, idText } = call;
  if (client) {
    if (idText !== 'null') client.calls.delete(canonicalId(idText));
    if (!client.isGone) pass(client, call, frame);
  }
  call.after?.(frame);
  if (call.session?.isConfirmed === false && !call.session.loading) settle(hub, call.session, frame.outcome === 'result');
  releaseIfIdle(hub, proxy);
}

/** An answer with options that its client cannot take has only the others. */
function pass(client: AttachedClient, { method, idText, proxy }: Call, frame: Frame): void {
  const hasOptions = WITH_OPTIONS.has(method) && frame.outcome === 'result' && lacks(client, proxy, 'booleanOptions');
  if (hasOptions) client.port.line(resultLine(idText, JSON.stringify(withoutBooleans(resultOf(frame)))));
  else client.port.frame(frame, [{ span: frame.id as Span, text: idText }]);
}

const WITH_OPTIONS: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
  'session/set_config_option',
]);

/** The first answer in a session that a client uses without having opened it. */
function settle(hub: Hub, session: LiveSession, exists: boolean): void {
  if (exists) confirm(hub, session);
  else if (![...session.proxy.calls.values()].some((call) => call.session === session)) forget(hub, session);
}

/** The proxy has stopped. Its clients cannot go on. */
export function proxyEnded(hub: Hub, proxy: SharedProxy): void {
  proxy.isClosed = true;
  if (hub.proxies.get(keyOf(proxy.principal)) === proxy) hub.proxies.delete(keyOf(proxy.principal));
  for (const session of proxy.sessions.values()) session.stopGrace?.();
  proxy.sessions.clear();
  for (const client of [...proxy.clients]) client.port.end('the proxy has stopped');
}
