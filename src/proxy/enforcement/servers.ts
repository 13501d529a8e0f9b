// MCP servers that the editor wants an agent to start or reach: judged when the session is opened.
import { failure, type ProxyError } from '../../errors.ts';
import type { Action, Place } from '../../policy/actions/action.ts';
import { hostAction, startAction } from '../../policy/actions/surfaces.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import { type EnforcementDeps, evaluate, record, recordUnread } from './evaluate.ts';

type Server = { readonly name?: unknown; readonly command?: unknown; readonly args?: unknown; readonly url?: unknown };

type ReadableServer = { readonly name?: unknown; readonly command?: string; readonly args?: readonly string[]; readonly url?: string };

/** The first server that is denied. What would be asked is settled: it is the user's own editor that brings the server. */
export function refusesServers(
  deps: EnforcementDeps,
  proxy: ProxyParts,
  agent: Agent,
  paramsText: string | undefined,
): ProxyError | undefined {
  if (paramsText === undefined) return undefined;
  const { mcpServers, cwd } = (JSON.parse(paramsText) ?? {}) as { mcpServers?: unknown; cwd?: unknown };
  if (!Array.isArray(mcpServers)) return undefined;
  for (const server of mcpServers as readonly (Server | null)[]) {
    const about = { proxy, agent, session: undefined, surface: 'mcpServers' };
    if (!isReadable(server)) {
      recordUnread(deps, about, JSON.stringify(server), 'what it would start or reach cannot be read');
      if (deps.isObserving) continue;
      return failure('SERVER_DENIED', [String(server?.name), agent.name, 'what it would start or reach cannot be read']);
    }
    const ask = requestOf(server, typeof cwd === 'string' ? cwd : undefined);
    if (!ask) continue;
    const action = evaluate(deps, about, JSON.stringify(server), ask);
    const isDenied = action.verdict === 'deny';
    record(deps, action, isDenied && !deps.isObserving ? 'refused' : 'passed');
    if (!isDenied || deps.isObserving) continue;
    return failure('SERVER_DENIED', [String(server?.name), agent.name, action.decision.why], { rule: action.decision.rule?.id });
  }
  return undefined;
}

/** As the protocol has it; an agent may read anything else more generously than we do. */
function isReadable(server: Server | null): server is ReadableServer {
  const { command, args, url } = server ?? {};
  const isText = (value: unknown) => value === undefined || typeof value === 'string';
  return (
    server !== null &&
    isText(command) &&
    isText(url) &&
    (args === undefined || (Array.isArray(args) && args.every((word) => typeof word === 'string')))
  );
}

function requestOf({ name, command, args, url }: ReadableServer, cwd: string | undefined): ((place: Place) => Action) | undefined {
  const at = (place: Place): Place => (cwd === undefined ? place : { ...place, cwd });
  if (command !== undefined) {
    const words = args ?? [];
    return (place) => startAction(at(place), [command, ...words], String(name));
  }
  // Servers that live in the editor itself have neither; their calls are judged one by one.
  return url !== undefined ? (place) => hostAction(at(place), 'fetch', url) : undefined;
}
