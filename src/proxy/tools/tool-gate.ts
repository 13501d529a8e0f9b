// Decides about calls of host tools when there is no policy: reading inside the session's directories is free, everything else needs the user.
import type { GateVerdict, ToolGate } from '../../mcp/server/gate.ts';
import type { Parts } from '../parts.ts';
import { choose } from '../requests/ask-client.ts';
import type { Session } from '../sessions/session.ts';
import { TOOL_KINDS, titleOf } from './show-host-call.ts';

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
    const call = session.servers.calls.forArgs(args);
    const { always } = proxy.context;
    // The user has consented to the agent's own permission request for exactly this.
    if (call?.approval || always?.store?.allowsTool(session, name) || session.servers.allowedTools.has(name)) return { allow: true };
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
