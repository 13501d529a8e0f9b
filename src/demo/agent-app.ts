// The ACP methods of a demo agent.
import path from 'node:path';
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import type { AgentProfile } from './agents.ts';
import { createLiveSessions } from './live-sessions.ts';
import { createMcpConnections } from './mcp-connections.ts';
import { runTurn } from './run-turn.ts';
import { availableCommands } from './scenarios/commands.ts';
import { configOptions, sessionOptions, setConfigOption, setMode } from './session-options.ts';
import { newSessionRecord, type SessionRecord, type SessionStore } from './session-store.ts';

// session/list: newest first, filtered by cwd, a page at a time.
const PAGE_SIZE = 20;

/** The cursor is the last session of the previous page. */
export function listSessions(records: readonly SessionRecord[], { cwd, cursor }: ListSessionsRequest): ListSessionsResponse {
  const found = records
    .filter((record) => cwd === undefined || cwd === null || record.cwd === cwd)
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.sessionId.localeCompare(b.sessionId));
  const previous = found.findIndex((record) => record.sessionId === cursor);
  if (typeof cursor === 'string' && previous === -1) throw RequestError.invalidParams({ cursor }, 'no such cursor');

  const page = found.slice(previous + 1, previous + 1 + PAGE_SIZE);
  const last = page.at(-1);
  return {
    sessions: page.map(({ sessionId, cwd, title, updatedAt }) => ({ sessionId, cwd, title, updatedAt })),
    ...(last !== undefined && last !== found.at(-1) ? { nextCursor: last.sessionId } : {}),
  };
}

const VERSION = '1.0.0';

type Activation = { readonly cwd: string; readonly mcpServers?: readonly McpServer[] };

export type DemoAgent = { readonly app: AgentApp; close(): Promise<void> };

export function createDemoAgent(profile: AgentProfile, store: SessionStore): DemoAgent {
  const sessions = createLiveSessions();
  const { agentCapabilities, name, title } = profile;
  let clientCapabilities: ClientCapabilities = {};

  const activate = (record: SessionRecord, { cwd, mcpServers = [] }: Activation): void => {
    record.cwd = cwd;
    sessions.open(record, createMcpConnections(mcpServers, { name, version: VERSION }));
    store.save(record);
  };
  const bringBack = async (sessionId: string, activation: Activation): Promise<SessionRecord> => {
    checkActivation(profile, activation);
    // If it is open here, its turn ends first, so that the stored record includes that turn.
    await sessions.close(sessionId);
    const record = store.find(sessionId);
    if (record === undefined) throw RequestError.sessionNotFound(sessionId);
    activate(record, activation);
    return record;
  };

  // For every message the SDK walks the handlers in this order, with a few microtasks each. session/cancel must follow session/prompt:
  // before it, it would overtake a prompt of the same chunk.
  const app = agent({ name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      clientCapabilities = params.clientCapabilities ?? {};
      return { protocolVersion: PROTOCOL_VERSION, agentCapabilities, authMethods: [], agentInfo: { name, title, version: VERSION } };
    })
    .onRequest(methods.agent.session.new, ({ params, client }) => {
      checkActivation(profile, params);
      const record = newSessionRecord(profile, params.cwd);
      activate(record, params);
      announceCommands(client, record.sessionId);
      return { sessionId: record.sessionId, ...sessionOptions(profile, record) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const record = await bringBack(params.sessionId, params);
      const { sessionId } = record;
      for (const update of record.transcript) await client.notify(methods.client.session.update, { sessionId, update });
      announceCommands(client, sessionId);
      return sessionOptions(profile, record);
    })
    .onRequest(methods.agent.session.list, ({ params }) => listSessions(store.all(), params))
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) =>
      runTurn({
        profile,
        session: sessions.get(params.sessionId),
        clientCapabilities,
        client,
        prompt: params.prompt,
        requestSignal: signal,
        save: store.save,
      }),
    )
    .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
      const { record } = sessions.get(params.sessionId);
      setMode(profile, record, params.modeId);
      store.save(record);
      await client.notify(methods.client.session.update, {
        sessionId: record.sessionId,
        update: { sessionUpdate: 'current_mode_update', currentModeId: record.modeId },
      });
      return {};
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.cancel(params.sessionId));

  // A method that is not advertised is not registered, and so answered with -32601.
  if (agentCapabilities.sessionCapabilities?.resume) {
    app.onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const record = await bringBack(params.sessionId, params);
      announceCommands(client, record.sessionId);
      return sessionOptions(profile, record);
    });
  }
  if (agentCapabilities.sessionCapabilities?.close) {
    app.onRequest(methods.agent.session.close, async ({ params }) => {
      await sessions.close(sessions.get(params.sessionId).record.sessionId);
      return {};
    });
  }
  if (profile.configOptions.length > 0) {
    app.onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      const { record } = sessions.get(params.sessionId);
      setConfigOption(profile, record, params);
      store.save(record);
      return { configOptions: configOptions(profile, record) };
    });
  }
  return { app, close: sessions.closeAll };
}

function checkActivation({ title, agentCapabilities }: AgentProfile, { cwd, mcpServers = [] }: Activation): void {
  if (!path.isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, 'cwd must be an absolute path');
  for (const server of mcpServers) {
    if (!('type' in server) || (server.type === 'http' && agentCapabilities.mcpCapabilities?.http === true)) continue;
    throw RequestError.invalidParams({ name: server.name, type: server.type }, `${title} takes no MCP server of type ${server.type}`);
  }
}

/** After the answer: clients drop updates of a session they do not know yet. The SDK sends an answer before the next macrotask. */
function announceCommands(client: AgentContext, sessionId: string): void {
  const update = { sessionUpdate: 'available_commands_update' as const, availableCommands };
  setImmediate(() => {
    client.notify(methods.client.session.update, { sessionId, update }).catch(() => {}); // the client has left
  });
}
