// A client leaves a session. The session waits for the next one, then ends.
import { requestLine } from '../proxy/json-rpc-lines.ts';
import { cancelQuestions, withdrawFrom } from './open-requests.ts';
import { notifyAware } from './show.ts';
import { type AttachedClient, type Hub, keyOf, type LiveSession, type SharedProxy } from './state.ts';

/** Observers do not keep a session alive. */
const isHeld = ({ attached }: LiveSession): boolean => [...attached].some(({ principal }) => principal.role !== 'observer');

export function detach(hub: Hub, client: AttachedClient, session: LiveSession): void {
  hub.watching.get(session.id)?.delete(client);
  if (!session.attached.delete(client)) return;
  session.lesser.delete(client);
  client.sessions.delete(session);
  client.aware.delete(session);
  if (session.host === client) session.host = undefined;
  for (const { isForAll, asked } of session.questions) {
    const id = isForAll ? asked.get(client) : undefined;
    if (id === undefined) continue;
    asked.delete(client);
    if (!client.isGone) withdrawFrom(client, id);
  }
  notifyAware(session, { sessionUpdate: 'client_disconnected', clientId: String(client.number), connectedClients: session.attached.size });
  waitForClient(hub, session);
}

export function detachAll(hub: Hub, client: AttachedClient): void {
  for (const session of [...client.sessions]) detach(hub, client, session);
}

/** Ends the session unless a client comes within the grace period. */
export function waitForClient(hub: Hub, session: LiveSession): void {
  if (isHeld(session) || session.stopGrace || session.isEnding) return;
  if (session.loading) return; // its answer decides
  session.stopGrace = hub.deps.after(hub.deps.graceMs, () => endSession(hub, session));
}

/** Open requests of the agent are answered `cancelled`. */
export function cancelTurn(session: LiveSession): void {
  const { proxy, id, turns } = session;
  if (turns > 0) proxy.port.line(`{"jsonrpc":"2.0","method":"session/cancel","params":${JSON.stringify({ sessionId: id })}}\n`);
  cancelQuestions(session, undefined);
}

/** Cancels the turn and closes the session at its agent. It stays in the store. */
export function endSession(hub: Hub, session: LiveSession): void {
  const { proxy, id } = session;
  if (session.isEnding || proxy.isClosed) return;
  session.isEnding = true;
  session.stopGrace?.();
  session.stopGrace = undefined;
  const params = JSON.stringify({ sessionId: id });
  cancelTurn(session);
  const callId = hub.nextId();
  const ended = () => forget(hub, session);
  proxy.calls.set(callId, { id: callId, method: 'session/close', proxy, client: undefined, idText: callId, session, before: ended });
  proxy.port.line(requestLine(callId, 'session/close', params));
}

/** The session is no longer live. */
export function forget(hub: Hub, session: LiveSession): void {
  const { proxy } = session;
  session.stopGrace?.();
  session.stopGrace = undefined;
  if (proxy.sessions.get(session.id) === session) proxy.sessions.delete(session.id);
  for (const client of session.attached) {
    client.sessions.delete(session);
    client.aware.delete(session);
    // An observer sees more if the session is opened again.
    if (client.principal.role === 'observer') hub.watching.set(session.id, (hub.watching.get(session.id) ?? new Set()).add(client));
  }
  session.attached.clear();
  session.lesser.clear();
  for (const again of [...session.whenConfirmed.splice(0), ...session.whenEnded.splice(0)]) again();
  releaseIfIdle(hub, proxy);
}

/** Without clients, sessions and open requests, a proxy is not needed. */
export function releaseIfIdle(hub: Hub, proxy: SharedProxy): void {
  if (proxy.isClosed || proxy.clients.size > 0 || proxy.sessions.size > 0 || proxy.calls.size > 0) return;
  proxy.isClosed = true;
  hub.proxies.delete(keyOf(proxy.principal));
  proxy.port.close();
}
