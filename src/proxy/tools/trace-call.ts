// A call of a lent tool, shown to the user where the agent does not show it: some agents use MCP tools without a word.
import { randomUUID } from 'node:crypto';
import type { ToolEvent } from '../../mcp/server/call-tool.ts';
import { updateLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import { titleOf } from './tool-gate.ts';

const SHOW_MS = 5;

export function traceCall(proxy: ProxyParts, { kind, sessionId, server, tool, args }: ToolEvent): void {
  const session = sessionId === undefined ? undefined : proxy.registry.sessions.get(sessionId);
  if (!session || tool === undefined || kind === 'refused-token') return;
  if (tool === 'delegate' && kind !== 'denied') return; // it shows itself
  // An agent that reports its tool calls has one under way now, and that is this one; outside of a turn there is nothing to show it in.
  if (session.toolCalls.size > 0 || session.turns.size === 0) return;
  const update = {
    sessionUpdate: 'tool_call',
    toolCallId: `switchboard-${randomUUID()}`,
    title: titleOf({ server, tool, args: args ?? {} }),
    kind: 'other',
    status: kind === 'called' ? 'completed' : 'failed',
    rawInput: args,
  };
  // After the answer has left, for which the agent waits, and before anything that it says next. Agents that call tool after tool are not held up by it.
  const isFirst = proxy.client.later(() => updateLine(session.publicId, JSON.stringify(update)));
  if (isFirst) proxy.context.clock.after(SHOW_MS, () => proxy.client.flush());
}
