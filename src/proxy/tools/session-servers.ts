// The MCP servers that a session is opened with, as the agent sees them: the client's, some of them bridged, then our own.

import { randomUUID } from 'node:crypto';
import { fields } from '../../json-object.ts';
import type { AskClient } from '../../mcp/bridge/acp-upstream.ts';
import type { BridgeDeps } from '../../mcp/bridge/bridge.ts';
import { type Bridges, createBridges, type Wanted } from '../../mcp/bridge/bridges.ts';
import { type AgentWays, bridgeFor, type ClientServer, isBridged, readServer } from '../../mcp/bridge/client-server.ts';
import { clientServer } from '../../mcp/gateway/gateway.ts';
import type { Children } from '../../mcp/gateway/server-process.ts';
import type { GateVerdict } from '../../mcp/server/gate.ts';
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import type { McpReply } from '../../mcp/transports/acp-transport.ts';
import type { Shim } from '../../mcp/transports/listeners.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { elements, memberAt } from '../../wire/json-path.ts';
import { patchedText } from '../../wire/observer.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';
import { cacheKey } from './check-tool-use.ts';
import { type Attachment, attach } from './session-tools.ts';
import { createTokenWatch } from './token-watch.ts';

// Bridges for the client's MCP servers that an agent does not support: the agent gets bridge entries, which lead to the servers through the
// proxy.
export type Bridging = {
  readonly bridges: Bridges;
  readonly children: Children | undefined;
  /** Receivers of the client's notifications about our requests to its servers, by server and request id. */
  readonly notes: Map<string, (method: string, params: unknown) => void>;
};

export function createBridging(shim: Shim, children: Children | undefined, proxy: () => Parts<'context'>): Bridging {
  const tokenRefused = createTokenWatch(proxy);
  return { bridges: createBridges(shim, () => tokenRefused('a server of a session')), notes: new Map(), children };
}

/** Whether this agent gets bridges, so that its sessions support servers of any type. */
export const hasBridges = (proxy: Parts<'pool' | 'tools'>, agent: Agent): boolean =>
  proxy.tools.bridging !== undefined && isBridged(agent.spec.mcpBridge, proxy.pool.single !== undefined);

/** The bridge entries in a session's server list, from before it is opened until it ends. */
export type BridgedServers = {
  /** Bridge entries for configured servers that this agent cannot connect to directly. */
  readonly direct: ReadonlyMap<string, string>;
  /** The changes to `params` in these bytes. */
  patches(bytes: Buffer, params: Span | undefined): Patch[];
  bind(session: Session): void;
  /** The session is closed and may be reopened: until it is bound again, no calls are possible. */
  suspend(): void;
  revoke(): void;
};

const NONE: BridgedServers = { direct: new Map(), patches: () => [], bind: () => {}, suspend: () => {}, revoke: () => {} };

/** Calls back at once, unless a listener has to be opened first. */
export function bridgeServers(
  proxy: ProxyParts,
  agent: Agent,
  paramsText: string | undefined,
  done: (bridged: BridgedServers) => void,
): void {
  const { bridging } = proxy.tools;
  const direct = proxy.tools.attachments?.direct ?? [];
  if (!bridging || paramsText === undefined || (!hasBridges(proxy, agent) && direct.length === 0)) return done(NONE);
  const { mcpServers, cwd } = (JSON.parse(paramsText) ?? {}) as { mcpServers?: unknown; cwd?: unknown };
  const ways = waysOf(proxy, agent);
  const given = hasBridges(proxy, agent) && Array.isArray(mcpServers) ? mcpServers.map(readServer) : [];
  const theirs = wantedOf(given, ways, agent.isContained);
  const ours = wantedOf(direct.map(clientServer), ways, agent.isContained);
  if (theirs.size + ours.size === 0) return done(NONE);
  const namesOf = (wanted: ReadonlyMap<number, Wanted>) => new Set([...wanted.values()].map(({ server }) => server.name));
  const [brought, configured] = [namesOf(theirs), namesOf(ours)];
  let session: Session | undefined;
  let known: () => void = () => {};
  const bound = new Promise<void>((resolve) => {
    known = resolve;
  });
  const deps: Omit<BridgeDeps, 'onEnding'> = {
    cwd: typeof cwd === 'string' ? cwd : undefined,
    askClient: askClient(proxy, bridging),
    children: bridging.children,
    exposes: (server, tool) => proxy.context.enforcement?.exposes(server, tool) ?? true,
    async mayCall(server, tool, args, signal): Promise<GateVerdict> {
      await bound;
      if (!session) return { allow: false, reason: 'the session has ended' };
      return proxy.context.enforcement?.bridgedCall(session, { server, tool, args }, signal) ?? { allow: true };
    },
    onDied(server, why) {
      const whose = configured.has(server) && !brought.has(server) ? 'of your configuration' : "of the editor's";
      proxy.context.report(`the MCP server "${server}" ${whose}, bridged for agent "${agent.name}", is not available: ${why}`);
      void bound.then(() => session && notifyInSession(proxy, session, 'warning', `The MCP server ${server} is not available`, `${why}.`));
    },
  };
  bridging.bridges.open([...theirs.values(), ...ours.values()], deps, (opened) => {
    if (opened instanceof Error) {
      // The agent gets the servers unchanged, and reports its own errors.
      proxy.context.report(`agent "${agent.name}" gets no bridges to the editor's MCP servers: ${opened.message}`);
      return done(NONE);
    }
    const texts = new Map([...theirs.keys()].map((index, n) => [index, opened.entries[n] as string]));
    const added = [...ours.values()].map(({ server }, n) => [server.name, opened.entries[theirs.size + n] as string] as const);
    done({
      direct: new Map(added),
      patches: (bytes, params) => replaced(bytes, params, texts),
      bind(now) {
        session = now;
        known();
      },
      suspend() {
        session = undefined;
      },
      revoke() {
        opened.revoke();
        session = undefined;
        known();
      },
    });
  });
}

function waysOf(proxy: Parts<'pool' | 'tools'>, agent: Agent): AgentWays {
  const { agentCapabilities, agentInfo } = agent.handshake?.result ?? {};
  return {
    mcpCapabilities: agentCapabilities?.mcpCapabilities,
    setting: agent.spec.mcpTransport,
    seen: proxy.tools.attachments?.memory?.seen(cacheKey(proxy, agent)) ?? {},
    agentName: agentInfo?.name,
  };
}

/** The servers that need a bridge, by their index in the list. */
function wantedOf(servers: readonly (ClientServer | undefined)[], ways: AgentWays, isContained: boolean): Map<number, Wanted> {
  const wanted = new Map<number, Wanted>();
  servers.forEach((server, index) => {
    const way = server && bridgeFor(server, ways);
    if (server && way) wanted.set(index, { server, way: way === 'stdio' && isContained ? 'tcp' : way });
  });
  return wanted;
}

function replaced(bytes: Buffer, params: Span | undefined, texts: ReadonlyMap<number, string>): Patch[] {
  const list = memberAt(bytes, params, 'mcpServers');
  if (!list) return [];
  return elements(bytes, list.start).flatMap((span, index) => {
    const text = texts.get(index);
    return text === undefined ? [] : [{ span, text }];
  });
}

/** Names an MCP request inside the client. */
export const requestName = (serverId: string, requestId: string): string => `${JSON.stringify(serverId)}:${requestId}`;

/** Requests to servers inside the client, for agents that do not support MCP over ACP. */
function askClient(proxy: Parts<'requests'>, { notes }: Bridging): AskClient {
  return (serverId, method, params, done, onNote) => {
    const requestId = `switchboard-${randomUUID()}`;
    const name = requestName(serverId, requestId);
    notes.set(name, onNote);
    const withdraw = proxy.requests.ask('mcp/message', JSON.stringify({ serverId, requestId, method, params }), (answer) => {
      notes.delete(name);
      const body = readBody(answer);
      const outcome = (body.ok ? body.value : undefined) as McpReply | { message?: unknown } | undefined;
      if (answer.outcome === 'result' && typeof outcome === 'object' && outcome !== null && ('result' in outcome || 'error' in outcome))
        return done(outcome);
      const why = outcome && 'message' in outcome ? String(outcome.message) : 'its answer cannot be used';
      done({ error: { code: -32603, message: `The editor did not pass ${method} on: ${why}` } });
    });
    return () => {
      notes.delete(name);
      withdraw();
    };
  };
}

/** Whether a notification from the client is about one of our own requests. */
export const isForBridge = ({ tools: { bridging } }: Parts<'tools'>, serverId: string, requestId: string): boolean =>
  bridging?.notes.has(requestName(serverId, requestId)) ?? false;

/** Passes the notification to the receiver of that request. */
export function noteForBridge({ tools: { bridging } }: Parts<'tools'>, serverId: string, requestId: string, body: unknown): void {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: unknown };
  if (typeof method === 'string') bridging?.notes.get(requestName(serverId, requestId))?.(method, params ?? {});
}

/** From before the session is opened until it ends. */
export type SessionServers = {
  /** The changes to a frame that opens the session. */
  patches(frame: Frame, method: string): Patch[];
  /** The same for params as text. */
  text(paramsText: string, method: string): string;
  /** The session's host tools. */
  readonly toolServer: ToolServer | undefined;
  /** The session is open. This ends its earlier servers. `isRecorded`: its record already has the state of the tools. */
  bind(session: Session, isRecorded?: boolean): void;
  revoke(): void;
};

/** Calls back at once, unless a listener has to be opened first. */
export function serversFor(proxy: ProxyParts, agent: Agent, paramsText: string | undefined, done: (servers: SessionServers) => void): void {
  bridgeServers(proxy, agent, paramsText, (bridged) =>
    attach(proxy, agent, bridged.direct, (attachment) => {
      const servers = combined(attachment, bridged);
      if (!agent.isContained || paramsText === undefined) return done(servers);
      agent.reach(loopbackPortsIn(servers.text(paramsText, 'session/new')), () => done(servers));
    }),
  );
}

/** The ports of this machine that the servers of a session are at: an agent with a network of its own must reach them. */
export function loopbackPortsIn(paramsText: string): readonly number[] {
  const { mcpServers } = fields(JSON.parse(paramsText));
  return (Array.isArray(mcpServers) ? mcpServers : []).flatMap((server) => {
    const { url, env } = fields(server);
    const shim = Array.isArray(env) ? env.map(fields).find(({ name }) => name === 'SWITCHBOARD_MCP_SOCKET')?.value : undefined;
    const [, port] = /^(?:https?:\/\/)?(?:127\.0\.0\.1|localhost):(\d{1,5})(?:\/|$)/.exec(String(url ?? shim ?? '')) ?? [];
    return port === undefined ? [] : [Number(port)];
  });
}

function combined(attachment: Attachment, bridged: BridgedServers): SessionServers {
  return {
    patches: (frame, method) => [...attachment.patches(frame, method), ...bridged.patches(frame.bytes, frame.body)],
    text(paramsText, method) {
      const bytes = Buffer.from(paramsText);
      const whole = { start: 0, end: bytes.length };
      return attachment.text(patchedText({ bytes, ...whole }, inOrder(bridged.patches(bytes, whole))), method);
    },
    toolServer: attachment.toolServer,
    bind(session, isRecorded) {
      attachment.bind(session, isRecorded);
      session.servers.bridged = bridged;
      bridged.bind(session);
    },
    revoke() {
      attachment.revoke();
      bridged.revoke();
    },
  };
}
