// What a session's process leaves unfinished when it is over, ended in its place.
import type { Hub } from '../hub.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import type { Session } from './session.ts';

/** Its tool calls fail, and its terminals are given back; its questions are its leg's to withdraw. */
export function failOpenToolCalls(hub: Hub, session: Session): void {
  failToolCalls(hub, session);
  for (const terminalId of session.terminals) {
    hub.client.ownRequest('terminal/release', JSON.stringify({ sessionId: session.publicId, terminalId }));
    hub.terminals.delete(terminalId);
  }
  session.terminals.clear();
  hub.workspace?.endOf(session);
}
