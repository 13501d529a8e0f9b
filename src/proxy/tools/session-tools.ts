// The tool server of each session: added to the server list that opens the session, bound once the session has an id, revoked when it ends.

import { createGateway, directEntry, type Gateway } from '../../mcp/gateway/gateway.ts';
import type { Logins } from '../../mcp/gateway/oauth.ts';
import type { Children } from '../../mcp/gateway/server-process.ts';
import type { Pins } from '../../mcp/gateway/server-set.ts';
import type { ToolEvent } from '../../mcp/server/call-tool.ts';
import type { ToolGate } from '../../mcp/server/gate.ts';
import { type Attached, createHostTools, type HostTools } from '../../mcp/server/host-tools.ts';
import {
  chooseTransport,
  type Entries,
  injectedText,
  injection,
  type McpTransport,
  type SeenTransports,
  takenTransports,
} from '../../mcp/server/inject-servers.ts';
import type { Abilities, HostTool, SessionHost } from '../../mcp/server/tool.ts';
import type { ToolServer, ToolSession } from '../../mcp/server/tool-server.ts';
import { FORMER_NAMES, type McpServerSettings } from '../../mcp/settings.ts';
import type { Pipe } from '../../mcp/transports/acp-transport.ts';
import type { Shim } from '../../mcp/transports/listeners.ts';
import type { Frame } from '../../wire/frame.ts';
import type { Patch } from '../../wire/writer.ts';
import { type Roots, rootsOf } from '../../workspace/roots.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import { askUser, elicitationOf, elicitFromClient } from '../requests/ask-client.ts';
import { moreDirectories, record } from '../sessions/open-params.ts';
import type { Session } from '../sessions/session.ts';
import { cacheKey, noteTransport, stateReached } from './check-tool-use.ts';
import { abilitiesOf, releaseTerminals, workspaceOf } from './client-workspace.ts';
import type { Delegate } from './delegation.ts';
import { createToolReader, type Described, type NamedTool } from './host-calls.ts';
import type { Bridging } from './session-servers.ts';
import { showCall } from './show-host-call.ts';
import { createTokenWatch } from './token-watch.ts';
import { askingGate } from './tool-gate.ts';

export type HostToolsOptions = {
  readonly tools: readonly HostTool[];
  readonly shim: Shim;
  /** Decides about every call when there is no policy; without it the user decides. */
  readonly onToolCall?: ToolGate | undefined;
  readonly onEvent?: ((event: ToolEvent) => void) | undefined;
  readonly maxOutputBytes?: number;
  /** Redacts results before agents read them. */
  readonly clean?: ((text: string) => string) | undefined;
  /** Configured MCP servers, and the stored definitions of their tools. */
  readonly servers?: readonly McpServerSettings[] | undefined;
  readonly pins?: Pins | undefined;
  readonly logins?: Logins | undefined;
  readonly children?: Children | undefined;
  /** Which transports agents were seen to use. */
  readonly memory?: TransportMemory | undefined;
};

export type TransportMemory = {
  seen(key: string): SeenTransports;
  note(key: string, transport: McpTransport, how: 'connected' | 'ignored'): void;
};

export type ToolAttachments = {
  readonly hostTools: HostTools;
  readonly memory: TransportMemory | undefined;
  /** Agents that were reported for not using their host tools. */
  readonly reportedAgents: Set<string>;
  /** Delegated sessions, by the ids in their calls. */
  readonly delegations: Map<string, Session>;
  /** Delegations under way on this connection. */
  readonly running: Set<object>;
  /** Opens a delegated session. */
  readonly delegate: Delegate;
  /** Servers that agents connect to directly. */
  readonly direct: readonly McpServerSettings[];
  /** Servers that agents reach through their ACP connection, with the owner of each. */
  readonly byServerId: Map<string, { readonly agent: Agent; readonly toolServer: ToolServer }>;
  /** The same for an older draft, by connection id. */
  readonly byConnectionId: Map<string, { readonly agent: Agent; readonly toolServer: ToolServer; forget(): void }>;
  /** Pipes to the servers, and functions that cancel calls under way, by the agent's ids. */
  readonly channels: Map<ToolServer, { readonly pipe: Pipe; readonly open: Map<string, () => void> }>;
  close(): Promise<void>;
};

export type ToolParts = {
  /** Undefined without host tools. */
  readonly attachments: ToolAttachments | undefined;
  /** Bridges to the client's own MCP servers; undefined when bridging is impossible. */
  readonly bridging: Bridging | undefined;
};

const MAX_OUTPUT_BYTES = 1024 * 1024;

export function createToolAttachments(
  options: HostToolsOptions,
  proxy: () => ProxyParts,
  version: string,
  delegate: Delegate,
): ToolAttachments {
  const gate: ToolGate = (request, signal) => {
    const { context, registry, tools } = proxy();
    const { enforcement } = context;
    const session = registry.get(request.sessionId) ?? tools.attachments?.delegations.get(request.sessionId);
    if (!session) return Promise.resolve({ allow: false, reason: 'the session has ended' });
    session.servers.calls.begin(request);
    return enforcement
      ? enforcement.hostToolCall(session, request, signal)
      : (options.onToolCall ?? askingGate(proxy(), session))(request, signal);
  };
  const tokenRefused = createTokenWatch(proxy);
  const onEvent = (event: ToolEvent) => {
    if (event.kind === 'refused-token') tokenRefused('the tools of a session');
    showCall(proxy(), event);
    options.onEvent?.(event);
  };
  let isUnservedReported = false;
  const onUnserved = (why: string) => {
    if (!isUnservedReported) proxy().context.report(`agents get no host tools: ${why}`);
    isUnservedReported = true;
  };
  const { servers = [], pins, tools } = options;
  const throughUs = servers.filter(({ expose }) => expose === 'gateway');
  const gateway: Gateway | undefined =
    pins && throughUs.length > 0
      ? createGateway({
          servers: throughUs,
          version,
          pins,
          report: (text) => proxy().context.report(text),
          children: options.children,
          logins: options.logins,
          onChange: () => hostTools.toolsChanged(),
          isExposed: (server, tool) => proxy().context.enforcement?.exposes(server, tool) ?? true,
          elicitation: () => elicitationOf(proxy()),
        })
      : undefined;
  const hostTools = createHostTools({
    version,
    shim: options.shim,
    tools(client) {
      const { enforcement } = proxy().context;
      const all = gateway ? [...tools, ...gateway.tools(client)] : tools;
      return enforcement ? all.filter(({ server, ownName, name }) => enforcement.exposes(server, ownName ?? name)) : all;
    },
    find(called, client) {
      const { enforcement } = proxy().context;
      const name = FORMER_NAMES[called] ?? called;
      const tool = tools.find((one) => one.name === name) ?? gateway?.find(name, client);
      return tool && (!enforcement || enforcement.exposes(tool.server, tool.ownName ?? tool.name)) ? tool : undefined;
    },
    toolsKnown: gateway?.ready,
    foreign: gateway?.of,
    gate,
    onEvent,
    measure: (call) => proxy().context.activity?.toolCalled(call),
    onUnserved,
    maxOutputBytes: options.maxOutputBytes ?? MAX_OUTPUT_BYTES,
    clean: options.clean,
  });
  return {
    hostTools,
    memory: options.memory,
    reportedAgents: new Set(),
    direct: servers.filter(({ expose }) => expose === 'direct'),
    delegate,
    delegations: new Map(),
    byServerId: new Map(),
    byConnectionId: new Map(),
    channels: new Map(),
    running: new Set(),
    async close() {
      hostTools.close();
      await gateway?.close();
    },
  };
}

const NO_ROOTS: Roots = { named: [], real: [] };

/** The host tools of one session, from before it is opened until it ends. A class with few fields: every session has one, and few are used. */
export class Attachment implements ToolSession {
  readonly agent: Agent;
  /** Undefined when the session gets no host tools. */
  toolServer: ToolServer | undefined;
  /** The time from which the agent could connect. */
  readonly sinceMs: number;
  /** The agent is on another machine and cannot connect to the tools. */
  isUnreachable = false;
  /** A check for a connection is scheduled. */
  isCheckScheduled = false;
  /** The name of its server in the agent's list. */
  serverName: string | undefined;
  #reader: ReturnType<typeof createToolReader> | undefined;
  /** No other server of the session has a name that could be taken for it. */
  #isNameClear = true;
  readonly #proxy: ProxyParts;
  /** Only until they are sent to the agent: they contain the token. */
  #entries: Entries | undefined;
  #session: Session | undefined;
  /** The session's directories, resolved when it was opened, so that a later link cannot move them. */
  #roots: Roots = NO_ROOTS;

  constructor(proxy: ProxyParts, agent: Agent) {
    this.#proxy = proxy;
    this.agent = agent;
    this.sinceMs = proxy.context.clock.monotonicMs();
  }
  get abilities(): Abilities {
    return abilitiesOf(this.#proxy, this.agent);
  }
  onState(toolServer: ToolServer): void {
    if (this.#session) stateReached(this.#proxy, this.#session, toolServer);
  }
  onRevoke(): void {
    if (this.toolServer) {
      this.#proxy.tools.attachments?.byServerId.delete(this.toolServer.key);
      this.#proxy.tools.attachments?.channels.delete(this.toolServer);
    }
    if (!this.#session) return;
    if (this.#session.delegation) this.#proxy.tools.attachments?.delegations.delete(this.#session.delegation.id);
    releaseTerminals(this.#proxy, this.#session);
  }
  attach(toolAttachments: ToolAttachments, { toolServer, entry }: Attached, bridged: ReadonlyMap<string, string>): void {
    this.toolServer = toolServer;
    this.#entries = (name, taken) => {
      this.serverName = name;
      this.#isNameClear = [...taken, ...toolAttachments.direct.map((server) => server.name)].every((other) => !other?.startsWith(name));
      return [
        entry(name),
        ...toolAttachments.direct
          .filter((server) => !taken.includes(server.name))
          .flatMap((server) => bridged.get(server.name) ?? directEntry(server, process.env) ?? []),
      ];
    };
    if (toolServer.transport === 'acp') toolAttachments.byServerId.set(toolServer.key, { agent: this.agent, toolServer });
  }
  /** The changes to a frame that opens the session. */
  patches(frame: Frame, method: string): Patch[] {
    const patch = this.#entries && injection(frame.bytes, frame.body, method, this.#entries);
    return patch ? [patch] : [];
  }
  /** The same for params as text. */
  text(paramsText: string, method: string): string {
    return this.#entries ? injectedText(paramsText, method, this.#entries) : paramsText;
  }
  /** The session is open. This ends an earlier attachment. */
  bind(session: Session, isRecorded = false): void {
    if (session.usedServers?.attachment !== this) revokeAttachment(session);
    this.#entries = undefined;
    if (this.toolServer || this.isUnreachable) session.servers.attachment = this;
    if (!this.toolServer) return;
    this.#session = session;
    if (session.delegation) this.#proxy.tools.attachments?.delegations.set(session.delegation.id, session);
    noteTransport(this.#proxy, session, this.toolServer);
    if (!isRecorded || this.toolServer.state !== 'offered') record(this.#proxy, session);
    this.#roots = rootsOf(directoriesOf(session));
    this.toolServer.bind();
  }
  /** The host tool that an agent's tool call is about. */
  toolIn(call: Described): NamedTool | undefined {
    if (this.serverName === undefined || !this.#isNameClear) return undefined;
    this.#reader ??= createToolReader(this.serverName, () => this.toolServer?.tools() ?? []);
    return this.#reader(call);
  }
  host(): SessionHost {
    const proxy = this.#proxy;
    const session = this.#session as Session;
    const { attachments: toolAttachments } = proxy.tools;
    return {
      sessionId: session.delegation?.id ?? session.publicId,
      agent: session.agent.name,
      cwd: session.cwd,
      roots: directoriesOf(session),
      workspace: workspaceOf(proxy, session, this.#roots),
      contain: session.agent.containCommand,
      ask: (agentRequest, signal) => askUser(proxy, session, agentRequest, signal),
      ...(elicitationOf(proxy) && { elicit: (elicitation, signal) => elicitFromClient(proxy, session, elicitation, signal) }),
      ...(toolAttachments &&
        !proxy.pool.single && {
          otherAgents: proxy.pool.choice.agents.filter((name) => name !== session.agent.name),
          delegate: (task, abort, onProgress) => toolAttachments.delegate(proxy, session, task, abort, onProgress),
        }),
    };
  }
  /** The session is closed and may be reopened: until then the tools cannot be used. */
  suspend(): void {
    this.toolServer?.rest();
    if (this.#session) releaseTerminals(this.#proxy, this.#session);
    this.#session = undefined;
  }
  revoke(): void {
    this.toolServer?.revoke();
  }
}

/** `bridged` are entries for servers that the agent does not support. Calls back at once, unless a listener must be opened first. */
export function attach(
  proxy: ProxyParts,
  agent: Agent,
  bridged: ReadonlyMap<string, string>,
  done: (attachment: Attachment) => void,
): void {
  const { attachments: toolAttachments } = proxy.tools;
  const attachment = new Attachment(proxy, agent);
  const seen = toolAttachments?.memory?.seen(cacheKey(proxy, agent)) ?? {};
  const { mcpCapabilities } = agent.handshake?.result.agentCapabilities ?? {};
  // A remote agent reaches our tools through its own connection only: not our loopback, nor a program on this machine.
  const setting = agent.spec.remote && agent.spec.mcpTransport === 'auto' ? 'acp' : agent.spec.mcpTransport;
  if (agent.spec.remote && setting === 'acp' && !takenTransports(mcpCapabilities).includes('acp')) {
    attachment.isUnreachable = toolAttachments !== undefined;
    return done(attachment);
  }
  const transport = chooseTransport(setting, mcpCapabilities, seen);
  // An agent that supports no servers would only be reported for ignoring ours.
  const isActive = agent.takesServers || agent.spec.mcpTransport !== 'auto';
  if (!toolAttachments || !transport || !isActive) return done(attachment);
  const attached = (entries: Attached | Error) => {
    // A session without our tools is better than none.
    if (entries instanceof Error) proxy.context.report(`agent "${agent.name}" gets no tools: ${entries.message}`);
    else attachment.attach(toolAttachments, entries, bridged);
    done(attachment);
  };
  toolAttachments.hostTools.attach(transport, attachment, attached, !agent.isContained);
}

/** The session or its agent's connection has ended: revokes its tools. */
export function revokeAttachment(session: Session): void {
  session.usedServers?.revoke();
}

function directoriesOf({ cwd, openParams }: Session): readonly string[] {
  return [...(cwd === undefined ? [] : [cwd]), ...moreDirectories(openParams)];
}
