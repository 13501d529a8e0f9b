// A server that the client brings to a session, and whether the agent can use it directly. Pure.
import { isOffered } from '../../acp/shapes.ts';
import type { McpTransport, McpTransportSetting, SeenTransports } from '../server/inject-servers.ts';

export type ClientServer =
  | {
      readonly kind: 'stdio';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'http' | 'sse'; readonly name: string; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'acp'; readonly name: string; readonly serverId: string };

/** Whether an agent gets bridges: `auto` means yes unless it is the only agent, for which the proxy is transparent. */
export type BridgeSetting = 'auto' | 'on' | 'off';

export const isBridged = (setting: BridgeSetting, isSingleAgent: boolean): boolean =>
  setting === 'on' || (setting === 'auto' && !isSingleAgent);

/** Undefined for an entry that is not fully understood: the agent decides about it. */
export function readServer(entry: unknown): ClientServer | undefined {
  const { type, name, command, args, env, url, headers, serverId } = (entry ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string') return undefined;
  if (type === undefined) {
    const variables = pairsIn(env);
    if (typeof command !== 'string' || !isListOfText(args) || !variables) return undefined;
    return { kind: 'stdio', name, command, args, env: variables };
  }
  if (type === 'http' || type === 'sse') {
    const lines = pairsIn(headers);
    return typeof url === 'string' && URL.canParse(url) && lines ? { kind: type, name, url, headers: lines } : undefined;
  }
  return type === 'acp' && typeof serverId === 'string' ? { kind: 'acp', name, serverId } : undefined;
}

/** What is known about an agent's transports: advertised, configured and observed. */
export type AgentWays = {
  readonly mcpCapabilities: unknown;
  readonly setting: McpTransportSetting;
  readonly seen: SeenTransports;
  readonly agentName: string | undefined;
};

/** copilot 1.0.102 accepts stdio servers and silently drops them. */
const DROPS_STDIO = new Set(['Copilot']);

/** The transport for a bridge to the server; undefined if the agent can use the server directly. */
export function bridgeFor({ kind }: ClientServer, ways: AgentWays): Exclude<McpTransport, 'acp'> | undefined {
  const takes = (ways.mcpCapabilities ?? {}) as Record<string, unknown>;
  const takesHttp = isOffered(takes.http);
  const dropsStdio = ways.setting === 'http' || (takesHttp && (ways.seen.stdio === 'ignored' || DROPS_STDIO.has(ways.agentName ?? '')));
  const isTaken = kind === 'stdio' ? !dropsStdio : isOffered(takes[kind]);
  if (isTaken) return undefined;
  // Agents that accept http are known to drop stdio servers, so http is the better choice for them.
  const prefersHttp = dropsStdio || (takesHttp && ways.seen.http !== 'ignored');
  return prefersHttp && ways.setting !== 'stdio' ? 'http' : 'stdio';
}

const isListOfText = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** The protocol has lists of pairs where others have maps. */
function pairsIn(value: unknown): Record<string, string> | undefined {
  if (!Array.isArray(value)) return undefined;
  const pairs = value.map((pair) => (pair ?? {}) as { name?: unknown; value?: unknown });
  if (!pairs.every((pair) => typeof pair.name === 'string' && typeof pair.value === 'string')) return undefined;
  return Object.fromEntries(pairs.map((pair) => [String(pair.name), String(pair.value)]));
}
