// The server on stdio and over HTTP, for both eras of MCP, and its notifications about changes.
import { type CallToolResult, createMcpHandler, type ServerEvent } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Change } from '../../client/sessions.ts';
import type { Step } from '../../client/turn-record.ts';
import { createEventStore } from '../server/event-store.ts';
import { type HttpSessions, type HttpSessionsOptions, httpSessions } from '../server/http-sessions.ts';
import { createPausedTurns } from '../server/paused-turns.ts';
import type { Agents } from './agents.ts';
import { ANSWER_MS } from './call.ts';
import { createKeptTurns } from './kept-turns.ts';
import { NO_REPLY, type Question, type Reply } from './open-requests.ts';
import { type AgentsServer, createAgentsServer, type ServerDeps } from './server.ts';
import { taskNotifying, withTaskNotifications } from './task-notifications.ts';
import { createTasks } from './tasks.ts';
import { createTools } from './tools.ts';
import { sessionUri, turnUri } from './transcripts.ts';

export type AgentsServerOptions = { readonly agents: Agents; readonly cwd: string; readonly version: string };

function depsOf({ agents, cwd, version }: AgentsServerOptions): ServerDeps {
  return {
    ...{ agents, version },
    tools: createTools({ agents, kept: createKeptTurns(), cwd }),
    paused: createPausedTurns<CallToolResult, Question, Reply, Step>(ANSWER_MS, () => NO_REPLY),
    tasks: createTasks(),
  };
}

/** On stdio, until the client disconnects. */
export function serveAgentsOnStdio(options: AgentsServerOptions): { close(): Promise<void> } {
  const deps = depsOf(options);
  const served = new Set<AgentsServer & { readonly era: 'legacy' | 'modern' }>();
  options.agents.onChange((change) => {
    for (const one of served) notify(one, one.era, change, options.agents);
  });
  return serveStdio(
    ({ era }) => {
      const one = { ...createAgentsServer(deps), era };
      served.add(one);
      one.server.onclose = () => served.delete(one);
      return one.server;
    },
    { transport: taskNotifying(new StdioServerTransport(), deps.tasks) },
  );
}

/** Over HTTP: connections for clients with a handshake, single requests for all others. */
export function serveAgentsOverHttp(options: AgentsServerOptions & Pick<HttpSessionsOptions, 'maxConnections'>): HttpSessions {
  const deps = depsOf(options);
  const connected = new Set<AgentsServer>();
  const { fetch, bus } = createMcpHandler(() => createAgentsServer(deps).server);
  options.agents.onChange((change) => {
    for (const one of connected) notify(one, 'legacy', change, options.agents);
    for (const event of eventsOf(change, options.agents)) bus.publish(event);
  });
  return httpSessions(
    (front) => {
      const one = createAgentsServer(deps);
      connected.add(one);
      one.server.onclose = () => connected.delete(one);
      void one.server.connect(front);
    },
    async (request, parsedBody) => {
      const response = await fetch(request, parsedBody === undefined ? {} : { parsedBody });
      return withTaskNotifications(deps.tasks, parsedBody, request.signal, response);
    },
    { eventStore: createEventStore, ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections }) },
  );
}

/** A client of the 2026 era gets what it listens to; the SDK selects that. */
function notify({ server, subscribed }: AgentsServer, era: 'legacy' | 'modern', change: Change, agents: Agents): void {
  const failed = () => {}; // a client that disconnected does not need it
  if (change.kind === 'sessions') server.sendResourceListChanged().catch(failed);
  if (change.kind === 'commands') server.sendPromptListChanged().catch(failed);
  if (change.kind === 'elicitation' && era === 'legacy')
    server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId: change.elicitationId } }).catch(failed);
  if (change.kind !== 'session') return;
  const changed = changedUris(change.sessionId, agents);
  const uris = era === 'modern' ? changed : [...subscribed].filter((uri) => changed.includes(uri));
  for (const uri of uris) server.sendResourceUpdated({ uri }).catch(failed);
}

function eventsOf(change: Change, agents: Agents): readonly ServerEvent[] {
  if (change.kind === 'sessions') return [{ kind: 'resources_list_changed' }];
  if (change.kind === 'commands') return [{ kind: 'prompts_list_changed' }];
  return change.kind === 'session' ? changedUris(change.sessionId, agents).map((uri) => ({ kind: 'resource_updated', uri })) : [];
}

/** The session and its last turn. */
function changedUris(sessionId: string, agents: Agents): readonly string[] {
  const turns = agents.session(sessionId)?.turns ?? 0;
  return [sessionUri(sessionId), ...(turns > 0 ? [turnUri(sessionId, turns)] : [])];
}
