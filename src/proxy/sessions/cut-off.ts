// What a session's process leaves unfinished when it is over, ended in its place.
import type { ProxyParts } from '../parts.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import type { Session } from './session.ts';

/** Its tool calls fail, and its terminals are given back; its questions are its leg's to withdraw. */
export function failOpenToolCalls(proxy: ProxyParts, session: Session): void {
  failToolCalls(proxy, session);
  for (const terminalId of session.terminals) {
    proxy.client.ownRequest('terminal/release', JSON.stringify({ sessionId: session.publicId, terminalId }));
    proxy.registry.terminals.delete(terminalId);
  }
  session.terminals.clear();
  proxy.context.workspace?.endOf(session);
}
