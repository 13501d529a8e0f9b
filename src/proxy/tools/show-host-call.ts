// Shows the user a call of a host tool where the agent does not.
import { randomUUID } from 'node:crypto';
import type { ToolEvent } from '../../mcp/server/call-tool.ts';
import type { ToolRequest } from '../../mcp/server/gate.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';

/** The ACP tool kind of each effect. */
export const TOOL_KINDS = { read: 'read', write: 'edit', execute: 'execute', ask: 'other', delegate: 'other', foreign: 'other' } as const;

const MAX_TITLE = 200;

/** A one-line description of the call. */
export function titleOf({ server, tool, args }: Pick<ToolRequest, 'server' | 'tool' | 'args'>): string {
  const what = tool === 'run_command' ? [args.command, ...(Array.isArray(args.args) ? args.args : [])].map(String).join(' ') : args.path;
  if (server === 'switchboard' && tool === 'delegate') return cut(`Ask ${String(args.agent)}: ${String(args.prompt)}`);
  const title = `${server === 'switchboard' ? '' : `${server}: `}${tool}${what === undefined ? '' : ` ${String(what)}`}`;
  return cut(title);
}

const cut = (title: string): string => (title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE)}…` : title);

/** An update that no answer follows goes out after this time. */
const SHOW_MS = 5;

/** Some agents send no updates about MCP tools. */
export function showCall(proxy: Parts<'context' | 'registry' | 'client'>, { kind, sessionId, server, tool, args }: ToolEvent): void {
  const session = sessionId === undefined ? undefined : proxy.registry.get(sessionId);
  if (!session || tool === undefined || kind === 'refused-token') return;
  if (tool === 'delegate' && kind !== 'denied') return; // a delegation shows itself
  const call = session.usedServers?.calls.forArgs(args);
  if (call) call.isOver = true;
  // The agent shows it, or the question that it asked was shown.
  if (call && (!call.isOurs || call.effect === 'ask')) return;
  const status = kind === 'called' ? 'completed' : 'failed';
  if (call?.isShown)
    return proxy.client.line(
      updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, status })),
    );
  // If the agent reports its tool calls, the one under way is this one. Outside a turn there is nowhere to show it.
  if (session.toolCalls.size > 0 || session.turns.size === 0) return;
  if (call) call.isShown = true;
  const update = {
    sessionUpdate: 'tool_call',
    toolCallId: call?.toolCallId ?? `switchboard-${randomUUID()}`,
    title: titleOf({ server, tool, args: args ?? {} }),
    kind: 'other',
    status,
    rawInput: args,
  };
  // After the answer that the agent waits for, and before its next frame, so that consecutive calls are not slowed down.
  const isFirst = proxy.client.later(() => updateLine(session.publicId, JSON.stringify(update)));
  if (isFirst) proxy.context.clock.after(SHOW_MS, () => proxy.client.flush());
}
