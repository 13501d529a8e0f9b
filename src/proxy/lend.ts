// The server in each session: added to the list the session is opened with, bound to the session once it has an id, worthless when it ends.
import type { Pipe } from '../mcp/acp-door.ts';
import type { ToolEvent } from '../mcp/call-tool.ts';
import { chooseTransport, type McpTransport, type SeenTransports, takenTransports } from '../mcp/choose-transport.ts';
import { directEntry } from '../mcp/direct.ts';
import type { ToolGate } from '../mcp/gate.ts';
import { createGateway, type Gateway, type Pins } from '../mcp/gateway.ts';
import { createHostTools, type HostTools, type Lent } from '../mcp/host-tools.ts';
import { type Entries, injectedText, injection } from '../mcp/inject.ts';
import type { Lease } from '../mcp/lease.ts';
import type { McpServerSettings } from '../mcp/settings.ts';
import type { HostTool, SessionHost } from '../mcp/tool.ts';
import type { Frame } from '../wire/frame.ts';
import type { Patch } from '../wire/writer.ts';
import type { AgentLeg } from './agent-leg.ts';
import { askUser } from './ask-user.ts';
import { memoryKey, stateReached } from './confirm-tools.ts';
import { abilitiesOf, releaseTerminals, workspaceOf } from './editor-workspace.ts';
import type { Hub } from './hub.ts';
import type { Session } from './session.ts';
import { askingGate } from './tool-gate.ts';
import { traceCall } from './trace-call.ts';

export type LendingOptions = {
  readonly tools: readonly HostTool[];
  /** How an agent starts the shim. */
  readonly shim: { readonly command: string; readonly args: readonly string[] };
  /** Decides about every call where there is no policy; without it the user is asked. */
  readonly onToolCall?: ToolGate | undefined;
  readonly onEvent?: ((event: ToolEvent) => void) | undefined;
  readonly maxOutputBytes?: number;
  /** Configured MCP servers, and where it is kept what their tools looked like. */
  readonly servers?: readonly McpServerSettings[] | undefined;
  readonly pins?: Pins | undefined;
  /** Which transports agents were seen to use. */
  readonly memory?: TransportMemory | undefined;
};

export type TransportMemory = {
  seen(key: string): SeenTransports;
  note(key: string, transport: McpTransport, how: 'connected' | 'ignored'): void;
};

export type Lending = {
  readonly hostTools: HostTools;
  readonly memory: TransportMemory | undefined;
  /** Agents of which the user has heard that they do not use what they are lent. */
  readonly toldOf: Set<string>;
  /** Servers that agents are told of as they are. */
  readonly direct: readonly McpServerSettings[];
  /** Servers that agents reach through their ACP connection, and whose they are. */
  readonly byServerId: Map<string, { readonly leg: AgentLeg; readonly lease: Lease }>;
  /** And, for an older draft, by the connections they opened to them. */
  readonly byConnectionId: Map<string, { readonly leg: AgentLeg; readonly lease: Lease }>;
  /** How messages of theirs get to the server, and what takes back those under way, by the agent's ids. */
  readonly channels: WeakMap<Lease, { readonly pipe: Pipe; readonly open: Map<string, () => void> }>;
  close(): Promise<void>;
};

const MAX_OUTPUT_BYTES = 1024 * 1024;

export function createLending(options: LendingOptions, hub: () => Hub, version: string): Lending {
  const gate: ToolGate = (request, signal) => {
    const { guard, sessions } = hub();
    const session = sessions.get(request.sessionId);
    if (!session) return Promise.resolve({ allow: false, reason: 'the session has ended' });
    return guard ? guard.lentCall(hub(), session, request) : (options.onToolCall ?? askingGate(hub()))(request, signal);
  };
  const onEvent = (event: ToolEvent) => {
    if (event.kind === 'refused-token') hub().notice(`somebody was refused the tools of a session: ${event.reason}`);
    traceCall(hub(), event);
    options.onEvent?.(event);
  };
  const { servers = [], pins, tools } = options;
  const throughUs = servers.filter(({ expose }) => expose === 'gateway');
  const gateway: Gateway | undefined =
    pins && throughUs.length > 0
      ? createGateway({ servers: throughUs, version, pins, notice: (text) => hub().notice(text), onChange: () => hostTools.toolsChanged() })
      : undefined;
  const hostTools = createHostTools({
    version,
    shim: options.shim,
    tools() {
      const { guard } = hub();
      const all = gateway ? [...tools, ...gateway.tools()] : tools;
      return guard ? all.filter(({ server, ownName, name }) => guard.exposes(server, ownName ?? name)) : all;
    },
    toolsKnown: gateway?.ready,
    gate,
    onEvent,
    maxOutputBytes: options.maxOutputBytes ?? MAX_OUTPUT_BYTES,
  });
  return {
    hostTools,
    memory: options.memory,
    toldOf: new Set(),
    direct: servers.filter(({ expose }) => expose === 'direct'),
    byServerId: new Map(),
    byConnectionId: new Map(),
    channels: new WeakMap(),
    async close() {
      hostTools.close();
      await gateway?.close();
    },
  };
}

/** What is lent to one session, from before it is opened until it ends. */
export type Loan = {
  readonly lease: Lease | undefined;
  /** Since when the agent could have connected. */
  readonly sinceMs: number;
  /** Somebody looks whether it has. */
  isLookedFor: boolean;
  /** The changes to a frame that opens the session. */
  patches(frame: Frame, method: string): Patch[];
  /** The same to params at hand as text. */
  text(paramsText: string, method: string): string;
  /** The session is there. An earlier loan of its ends with this. */
  bind(session: Session): void;
  revoke(): void;
};

const NOTHING: Loan = {
  lease: undefined,
  sinceMs: 0,
  isLookedFor: true,
  patches: () => [],
  text: (paramsText) => paramsText,
  bind: revokeLoan,
  revoke: () => {},
};

/** Calls back at once, unless a listener has to be opened first. */
export function lend(hub: Hub, leg: AgentLeg, done: (loan: Loan) => void): void {
  const { lending } = hub;
  const seen = lending?.memory?.seen(memoryKey(hub, leg)) ?? {};
  const transport = chooseTransport(leg.spec.mcpTransport, leg.handshake?.result.agentCapabilities?.mcpCapabilities, seen);
  if (!lending || !transport) return done(NOTHING);
  let bound: Session | undefined;
  const onState = (lease: Lease) => {
    if (bound) stateReached(hub, bound, lease);
  };
  const abilities = abilitiesOf(hub);
  lending.hostTools.lend(transport, abilities, onState, (lent) => {
    if (!(lent instanceof Error))
      return done(
        loanOf(hub, lending, leg, lent, (session) => {
          bound = session;
        }),
      );
    // A session without our tools is better than none.
    hub.notice(`agent "${leg.name}" gets no tools: ${lent.message}`);
    done(NOTHING);
  });
}

function loanOf(hub: Hub, lending: Lending, leg: AgentLeg, { lease, entry }: Lent, onBound: (session: Session) => void): Loan {
  const takesHttp = takenTransports(leg.handshake?.result.agentCapabilities?.mcpCapabilities).includes('http');
  const entries: Entries = (name, taken) => [
    entry(name),
    ...lending.direct
      .filter((server) => !taken.includes(server.name))
      .flatMap((server) => directEntry(server, takesHttp, process.env) ?? []),
  ];
  if (lease.transport === 'acp') {
    lending.byServerId.set(lease.serverId, { leg, lease });
    lease.onRevoke(() => lending.byServerId.delete(lease.serverId));
  }
  const loan: Loan = {
    lease,
    sinceMs: hub.clock.monotonicMs(),
    isLookedFor: false,
    patches(frame, method) {
      const patch = injection(frame.bytes, frame.body, method, entries);
      return patch ? [patch] : [];
    },
    text: (paramsText, method) => injectedText(paramsText, method, entries),
    bind(session) {
      if (session.loan !== loan) revokeLoan(session);
      session.loan = loan;
      onBound(session);
      stateReached(hub, session, lease);
      lease.bind(hostOf(hub, session));
      lease.onRevoke(() => releaseTerminals(hub, session));
    },
    revoke: lease.revoke,
  };
  return loan;
}

/** The session's agent has gone, or the session has: nobody may use what was lent to it. */
export function revokeLoan(session: Session): void {
  session.loan?.revoke();
  session.loan = undefined;
}

function hostOf(hub: Hub, session: Session): SessionHost {
  const { publicId: sessionId, leg, cwd } = session;
  const roots = rootsOf(session);
  return {
    sessionId,
    agent: leg.name,
    cwd,
    roots,
    workspace: workspaceOf(hub, session, roots),
    ask: (question, signal) => askUser(hub, session, question, signal),
  };
}

function rootsOf({ cwd, openParams }: Session): readonly string[] {
  const params = (openParams === undefined ? null : JSON.parse(openParams)) as { additionalDirectories?: unknown } | null;
  const more = Array.isArray(params?.additionalDirectories) ? params.additionalDirectories : [];
  return [cwd, ...more].filter((one): one is string => typeof one === 'string');
}
