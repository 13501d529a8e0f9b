// What a session's process leaves unfinished when it is over, ended in its place.
import type { ProxyParts } from '../parts.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import type { Session } from './session.ts';

/** Its tool calls fail, and its terminals are given back; its questions are its leg's to withdraw. */
export function failOpenToolCalls(proxy: ProxyParts, session: Session): void {
  failToolCalls(proxy, session);
  releaseTerminals(proxy, session);
  proxy.context.workspace?.endOf(session);
}

/** Releases its terminals at the client. */
export function releaseTerminals({ registry, requests }: ProxyParts, session: Session): void {
  const { publicId: sessionId } = session;
  for (const terminalId of registry.takeTerminals(session)) requests.send('terminal/release', JSON.stringify({ sessionId, terminalId }));
}
