// Host tools in some of the histories, through the agents' own connections: nothing listens, so all of it is in virtual time.
import { type HostTool, text } from '../../src/mcp/server/tool.ts';
import { delegateTool } from '../../src/mcp/tools/builtin-tools.ts';
import '../../src/mcp/server/sdk-server.ts'; // loaded now, so that no call has to wait for it
import type { HostToolsOptions } from '../../src/proxy/tools/session-tools.ts';
import type { AgentSession } from './ledger.ts';
import { type Random, seeded } from './random.ts';
import type { Body, Sim } from './sim.ts';

export type HostTools = {
  readonly options: HostToolsOptions;
  /** A separate random source, so that histories without host tools stay the same. */
  readonly random: Random;
  /** How many calls are made here, and how many of those are delegations. */
  readonly rates: { readonly calls: number; readonly delegations: number };
  /** Whether an agent accepts servers over ACP. */
  takes(agent: string): boolean;
  /** The names of all servers that agents were given. */
  readonly servers: string[];
};

/** The share of histories with a policy that have host tools. */
const SHARE = 0.9;

const ENVELOPE = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

/** `ran` gets the key of every call that is executed. */
export function createHostTools(seed: number, ran: (key: string) => void): HostTools | undefined {
  const random = seeded(seed + 2_000_003);
  if (!random.chance(SHARE)) return undefined;
  const takers = new Map<string, boolean>();
  const tool = (name: string, effect: 'read' | 'write') => ({
    ...{ name, effect, title: name, description: name, server: 'switchboard', needs: [], timeoutMs: undefined },
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    async run({ path }: Body) {
      ran(String(path).replace('/w/', ''));
      return text('done');
    },
  });
  const asking: HostTool = {
    ...delegateTool,
    async run(args, about) {
      ran(String(args.prompt).replace('/w/', ''));
      return delegateTool.run(args, about);
    },
  };
  return {
    random,
    rates: { calls: random.pick([0.5, 0.9]), delegations: random.pick([0.4, 0.9, 1]) },
    servers: [],
    takes(agent) {
      const takes = takers.get(agent) ?? random.chance(0.9);
      takers.set(agent, takes);
      return takes;
    },
    options: { tools: [tool('read_file', 'read'), tool('write_file', 'write'), asking], shim: { command: 'none', args: [] } },
  };
}

/** A call as an agent sends it: to a file tool, or to delegate to another agent. */
export function hostToolCall({ random, rates }: HostTools, serverId: string, key: string, { agents }: Sim, self: string): Body {
  const isDelegation = agents.length > 1 && random.chance(rates.delegations);
  const others = agents.filter((agent) => agent !== self);
  const called = isDelegation
    ? { name: 'delegate', arguments: { agent: random.pick(random.chance(0.9) ? others : agents), prompt: `/w/${key}` } }
    : { name: random.pick(['read_file', 'write_file']), arguments: { path: `/w/${key}` } };
  return { serverId, requestId: key, method: 'tools/call', params: { ...called, _meta: ENVELOPE } };
}

/** The key of the call that delegated with this prompt. */
export function delegationIn({ prompt }: Body): string | undefined {
  const [block] = (Array.isArray(prompt) ? prompt : []) as { readonly text?: string }[];
  return block?.text?.startsWith('/w/') ? block.text.replace('/w/', '') : undefined;
}

/** Our server among those that a session is opened with. */
export function toolServerOf({ mcpServers }: Body): string | undefined {
  const servers = (Array.isArray(mcpServers) ? mcpServers : []) as { readonly name?: string; readonly serverId?: string }[];
  return servers.find(({ name }) => name === 'switchboard')?.serverId;
}

/** The line as it was before our server was added. */
export const withoutHostTools = (line: string): string =>
  line.replace(/,?\{"type":"acp","name":"switchboard","serverId":"switchboard-[\w-]{22}"\}/, '').replace('"mcpServers":[],', '');

/** The host tools of one process: the server of each of its sessions, and all that there ever were. */
export type ProcessTools = {
  readonly bySession: Map<AgentSession, string>;
  /** What a session had before it was opened again. */
  readonly before: Map<AgentSession, string>;
  readonly all: Set<string>;
  /** Those of delegated sessions. */
  readonly delegated: Set<string>;
};
