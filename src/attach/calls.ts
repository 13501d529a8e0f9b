// Requests of clients on their way through a proxy, and what their frames say.
import type { ProxyError } from '../errors.ts';
import { errorLine } from '../proxy/json-rpc-lines.ts';
import { canonicalId } from '../router/pending-ids.ts';
import { type Frame, type Span, textOf } from '../wire/frame.ts';
import { elements, memberAt, stringAt } from '../wire/json-path.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import type { AttachedClient, Call, Hub, LiveSession, SharedProxy } from './state.ts';

export function refuse(client: AttachedClient, idText: string, error: ProxyError): void {
  client.port.line(errorLine(idText, error));
}

export function resultOf({ bytes, body }: Frame): Readonly<Record<string, unknown>> {
  const value: unknown = body ? JSON.parse(textOf(bytes, body)) : {};
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Which client has the MCP servers that reach agents through ACP itself. */
export function noteServers(proxy: SharedProxy, client: AttachedClient, { bytes, body }: Frame): void {
  const list = memberAt(bytes, body, 'mcpServers');
  for (const { start, end } of list ? elements(bytes, list.start) : []) {
    const server = { start, end };
    if (stringAt(bytes, memberAt(bytes, server, 'type')) !== 'acp') continue;
    const id = stringAt(bytes, memberAt(bytes, server, 'serverId')) ?? stringAt(bytes, memberAt(bytes, server, 'id'));
    if (id !== undefined) proxy.servers.set(id, client);
  }
}

export function modeChanged(session: LiveSession, currentModeId: string): void {
  const { modes } = session.opened;
  if (typeof modes === 'object' && modes !== null) session.opened = { ...session.opened, modes: { ...modes, currentModeId } };
}

export type Forwarded = Partial<Pick<Call, 'session' | 'before' | 'after'>>;

/** Sends a request to a proxy under an id of the hub. */
export function forward(client: AttachedClient, hub: Hub, proxy: SharedProxy, frame: Frame, more: Forwarded): Call {
  const idText = idTextOf(frame);
  const id = hub.nextId();
  const call: Call = {
    id,
    method: frame.method as string,
    proxy,
    client,
    idText,
    session: more.session,
    before: more.before,
    after: more.after,
  };
  proxy.calls.set(id, call);
  if (idText !== 'null') client.calls.set(canonicalId(idText), call);
  proxy.port.frame(frame, [{ span: frame.id as Span, text: id }]);
  return call;
}
