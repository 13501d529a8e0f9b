// Who decides about calls of lent tools where no policy does: looking is free inside the session's directories, anything else the user is asked.
import type { GateVerdict, ToolGate, ToolRequest } from '../../mcp/server/gate.ts';
import type { ProxyParts } from '../parts.ts';
import { choose } from '../requests/ask-user.ts';
import type { Session } from '../sessions/session.ts';

const KINDS = { read: 'read', write: 'edit', execute: 'execute', ask: 'other', delegate: 'other', foreign: 'other' } as const;

const OPTIONS = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'session', name: 'Allow this tool in this session', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const;

export function askingGate(proxy: ProxyParts, session: Session): ToolGate {
  return async (request, signal): Promise<GateVerdict> => {
    const { effect, server, tool, args } = request;
    if (effect === 'read' || effect === 'ask') return { allow: true };
    const name = `${server}:${tool}`;
    if (session.allowedTools.has(name)) return { allow: true };
    const path = typeof args.path === 'string' ? args.path : undefined;
    const shown = { title: titleOf(request), kind: KINDS[effect], rawInput: args, ...(path !== undefined && { locations: [{ path }] }) };
    const chosen = await choose(proxy, session, shown, OPTIONS, signal);
    if (chosen === 'session') session.allowedTools.add(name);
    return chosen === 'once' || chosen === 'session' ? { allow: true } : { allow: false, reason: 'the user did not allow it' };
  };
}

const MAX_TITLE = 200;

/** What it would do, as far as a line can say it. */
export function titleOf({ server, tool, args }: Pick<ToolRequest, 'server' | 'tool' | 'args'>): string {
  const what = tool === 'run_command' ? [args.command, ...(Array.isArray(args.args) ? args.args : [])].map(String).join(' ') : args.path;
  if (server === 'switchboard' && tool === 'delegate') return cut(`Ask ${String(args.agent)}: ${String(args.prompt)}`);
  const title = `${server === 'switchboard' ? '' : `${server}: `}${tool}${what === undefined ? '' : ` ${String(what)}`}`;
  return cut(title);
}

const cut = (title: string): string => (title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE)}…` : title);
