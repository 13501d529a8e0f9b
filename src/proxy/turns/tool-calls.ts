// Which tool calls are under way, so that none of them spins for ever in the editor when its agent dies.
import type { Frame } from '../../wire/frame.ts';
import { stringIn } from '../../wire/scanner/large-frame.ts';
import { updateLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

const MAX_TRACKED = 1000;

/** From a `tool_call` or `tool_call_update`; some agents send the second without the first. */
export function noteToolCall(session: Session, frame: Frame): void {
  const toolCallId = stringIn(frame, 'update', 'toolCallId');
  if (toolCallId === undefined) return;
  const status = stringIn(frame, 'update', 'status');
  if (status === 'completed' || status === 'failed') session.toolCalls.delete(toolCallId);
  else if (session.toolCalls.size < MAX_TRACKED) session.toolCalls.add(toolCallId);
}

/** Ends them for the editor: their agent cannot any more. */
export function failToolCalls(proxy: ProxyParts, session: Session): void {
  for (const toolCallId of session.toolCalls)
    proxy.client.line(updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' })));
  session.toolCalls.clear();
}
