// What a session's process leaves unfinished when it is over, ended in its place.
import type { Hub } from '../hub.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import type { Session } from './session.ts';

/** Its tool calls fail, and its terminals are given back; its questions are its leg's to withdraw. */
export function cutOff(hub: Hub, session: Session): void {
  failToolCalls(hub, session);
  for (const terminalId of session.terminals) {
    hub.editor.ownRequest('terminal/release', JSON.stringify({ sessionId: session.publicId, terminalId }));
    hub.terminals.delete(terminalId);
  }
  session.terminals.clear();
  hub.workspace?.endOf(session);
}
