// The MCP server whose tools are agents: which requests it answers, and with what.
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Agents } from './agents.ts';
import { type CallDeps, callTool, capabilitiesOf, hasTasks } from './call.ts';
import { TOOL_SHAPES, type ToolShape } from './schemas.ts';
import { complete, getPrompt, listPrompts } from './slash-commands.ts';
import { TASKS_EXTENSION } from './tasks.ts';
import { listTranscripts, placeOf, readTranscript, TEMPLATES } from './transcripts.ts';

export type ServerDeps = CallDeps & { readonly agents: Agents; readonly version: string };

export type AgentsServer = {
  readonly server: Server;
  /** URIs that a client of the 2025 era subscribed to. */
  readonly subscribed: Set<string>;
};

const INSTRUCTIONS =
  'Coding agents as tools. list_agents names them, start_session opens a session in a directory, prompt sends it a task and waits for the turn. ' +
  "An agent's permission requests come as elicitations. get_turn finds a turn after a lost connection.";

/** Tools and templates change only with the version of switchboard. */
const STABLE = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

export function createAgentsServer(deps: ServerDeps): AgentsServer {
  const { agents, version } = deps;
  const subscribed = new Set<string>();
  const server = new Server(
    { name: 'acp-switchboard', title: 'Switchboard', version },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        extensions: { [TASKS_EXTENSION]: {} },
      },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': STABLE, 'resources/templates/list': STABLE, 'server/discover': STABLE },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: Object.entries(TOOL_SHAPES).map(described) }));
  server.setRequestHandler('tools/call', ({ params }, context) => callTool(deps, server, params, context));
  server.setRequestHandler('resources/list', ({ params }) => listTranscripts(agents, params?.cursor));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => readTranscript(agents, uri));
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!placeOf(uri)) throw new ProtocolError(INVALID_PARAMS, `There is no resource ${uri}`);
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(agents) }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }) => getPrompt(agents, name, args));
  server.setRequestHandler('completion/complete', ({ params }) => complete(agents, params));
  addTasks(server, deps);
  return { server, subscribed };
}

function described([name, { title, description, inputSchema, outputSchema, annotations }]: [string, ToolShape]) {
  return {
    ...{ name, title, description },
    inputSchema: { ...inputSchema, type: 'object' as const },
    outputSchema: { ...outputSchema, type: 'object' as const },
    annotations: { title, ...annotations },
  };
}

const TASK = z.looseObject({ taskId: z.string() });

/** `tasks/*` of the extension. Clients of the 2025 era, whose tasks differ, do not have it. */
function addTasks(server: Server, { tasks }: ServerDeps): void {
  const only = (context: ServerContext) => {
    if (context.mcpReq.envelope === undefined) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found');
    if (!hasTasks(capabilitiesOf(server, context)))
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
  };
  server.setRequestHandler('tasks/get', { params: TASK }, ({ taskId }, context) => {
    only(context);
    return { ...tasks.get(taskId) };
  });
  server.setRequestHandler('tasks/update', { params: TASK }, ({ taskId }, context) => {
    only(context);
    tasks.update(taskId, context.mcpReq.inputResponses ?? {});
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: TASK }, ({ taskId }, context) => {
    only(context);
    tasks.cancel(taskId);
    return {};
  });
}
