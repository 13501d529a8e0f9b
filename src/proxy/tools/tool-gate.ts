// Decides about calls of host tools when there is no policy: reading inside the session's directories is free, everything else needs the user.

import { randomUUID } from 'node:crypto';
import type { ToolEvent } from '../../mcp/server/call-tool.ts';
import type { GateVerdict, ToolGate, ToolRequest } from '../../mcp/server/gate.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import { choose } from '../requests/ask-client.ts';
import type { Session } from '../sessions/session.ts';

/** The ACP tool kind of each effect. */
export const TOOL_KINDS = { read: 'read', write: 'edit', execute: 'execute', ask: 'other', delegate: 'other', foreign: 'other' } as const;

const OPTIONS = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'session', name: 'Allow this tool in this session', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const;

export function askingGate(proxy: Parts<'context' | 'requests'>, session: Session): ToolGate {
  return async (request, signal): Promise<GateVerdict> => {
    const { effect, server, tool, args } = request;
    if (effect === 'read' || effect === 'ask') return { allow: true };
    const name = `${server}:${tool}`;
    const call = session.servers.calls.of(args);
    const { always } = proxy.context;
    // The user has consented to the agent's own permission request for exactly this.
    if (call?.approval || always?.memory?.allowsTool(session, name) || session.servers.allowedTools.has(name)) return { allow: true };
    const path = typeof args.path === 'string' ? args.path : undefined;
    const shown = {
      title: titleOf(request),
      kind: TOOL_KINDS[effect],
      rawInput: args,
      ...(path !== undefined && { locations: [{ path }] }),
    };
    if (call) call.isShown = true;
    const chosen = await choose(proxy, session, shown, OPTIONS, signal, call?.toolCallId);
    if (chosen === 'session' && !(await always?.load())?.keepTool(session, name)) session.servers.allowedTools.add(name);
    return chosen === 'once' || chosen === 'session' ? { allow: true } : { allow: false, reason: 'the user did not allow it' };
  };
}

const MAX_TITLE = 200;

/** A one-line description of the call. */
export function titleOf({ server, tool, args }: Pick<ToolRequest, 'server' | 'tool' | 'args'>): string {
  const what = tool === 'run_command' ? [args.command, ...(Array.isArray(args.args) ? args.args : [])].map(String).join(' ') : args.path;
  if (server === 'switchboard' && tool === 'delegate') return cut(`Ask ${String(args.agent)}: ${String(args.prompt)}`);
  const title = `${server === 'switchboard' ? '' : `${server}: `}${tool}${what === undefined ? '' : ` ${String(what)}`}`;
  return cut(title);
}

const cut = (title: string): string => (title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE)}…` : title);

/** Shows the user a call of a host tool where the agent does not: some agents send no updates about MCP tools. */
const SHOW_MS = 5;

export function traceCall(proxy: Parts<'context' | 'registry' | 'client'>, { kind, sessionId, server, tool, args }: ToolEvent): void {
  const session = sessionId === undefined ? undefined : proxy.registry.get(sessionId);
  if (!session || tool === undefined || kind === 'refused-token') return;
  if (tool === 'delegate' && kind !== 'denied') return; // a delegation shows itself
  const call = session.usedServers?.calls.of(args);
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

/** Reports and audits invalid tokens, at a limited rate. */
const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;

export function createTokenWatch(proxy: () => Parts<'context'>): (whose: string) => void {
  let times: number[] = [];
  return (whose) => {
    const { clock, report, enforcement } = proxy().context;
    const now = clock.monotonicMs();
    times = times.filter((at) => now - at < MINUTE_MS);
    if (times.length >= MAX_PER_MINUTE) return;
    times.push(now);
    const why = 'invalid or expired token';
    report(`rejected an MCP connection to ${whose}: ${why}`);
    enforcement?.tokenRefused(why);
  };
}
