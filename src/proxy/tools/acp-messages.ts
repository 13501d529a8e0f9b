// MCP messages of agents that reach our server through their own ACP connection: `mcp/message`, and `mcp/connect` of an older draft.
import { randomUUID } from 'node:crypto';
import { failure } from '../../errors.ts';
import { OUR_SERVER } from '../../mcp/server/host-tools.ts';
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import type { ToolAttachments } from './session-tools.ts';

/** Answers the request if it is for one of our own servers; true when it was. */
export function answeredByToolServer({ tools: { attachments } }: Parts<'tools'>, agent: Agent, frame: Frame): boolean {
  if (!attachments) return false;
  switch (frame.method) {
    case 'mcp/message':
      return message(attachments, agent, frame);
    case 'mcp/connect':
      return connect(attachments, agent, frame);
    case 'mcp/disconnect':
      return disconnect(attachments, agent, frame);
    default:
      return false;
  }
}

/** Likewise a notification. */
export function passedToToolServer({ tools: { attachments } }: Parts<'tools'>, agent: Agent, frame: Frame): boolean {
  if (!attachments || attachments.byServerId.size === 0) return false;
  if (frame.method === '$/cancel_request') return cancelRequest(attachments, agent, frame);
  const toolServer = connected(attachments, agent, frame);
  const body = toolServer && readBody(frame);
  if (!toolServer || !body?.ok) return false;
  const { method, params } = (body.value ?? {}) as { method?: unknown; params?: unknown };
  if (typeof method === 'string') channelOf(attachments, toolServer).pipe.notify(method, params);
  return true;
}

function channelOf({ channels, hostTools }: ToolAttachments, toolServer: ToolServer) {
  const channel = channels.get(toolServer) ?? { pipe: hostTools.pipe(toolServer), open: new Map<string, () => void>() };
  channels.set(toolServer, channel);
  return channel;
}

/** The tool server behind the connection that a frame names, if it is this agent's. */
function connected({ byConnectionId }: ToolAttachments, agent: Agent, frame: Frame): ToolServer | undefined {
  const entry = byConnectionId.get(stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'connectionId')) ?? '');
  return entry?.agent === agent ? entry.toolServer : undefined;
}

function message(attachments: ToolAttachments, agent: Agent, frame: Frame): boolean {
  const { bytes, body } = frame;
  const serverId = stringAt(bytes, memberAt(bytes, body, 'serverId')) ?? '';
  const entry = attachments.byServerId.get(serverId);
  const isOld = entry?.agent !== agent;
  const toolServer = isOld ? connected(attachments, agent, frame) : entry.toolServer;
  const idText = idTextOf(frame);
  if (!toolServer && serverId.startsWith(OUR_SERVER)) {
    // The session has ended, or the server belongs to another agent. The client does not know it.
    agent.fail(idText, failure('MCP_REFUSED', ['the session this server belonged to has ended']));
    return true;
  }
  if (!toolServer) return false;
  const params = readBody(frame);
  const asked = (params.ok ? params.value : undefined) as Record<string, unknown> | undefined;
  if (!params.ok || typeof asked?.method !== 'string') {
    agent.fail(idText, failure('PARAMS', ['mcp/message', params.ok ? 'method is missing' : params.reason]));
    return true;
  }
  const names = isOld ? { connectionId: asked.connectionId } : { serverId: asked.serverId, requestId: asked.requestId };
  const { pipe, open } = channelOf(attachments, toolServer);
  const { connection } = agent;
  const cancelRequest = pipe.request(
    asked.method,
    asked.params,
    (reply) => {
      open.delete(idText);
      if (agent.connection !== connection) return; // on another connection the id belongs to another request
      // The current draft wraps the inner answer; the older one does not.
      if (!isOld) agent.succeed(idText, JSON.stringify(reply));
      else if ('result' in reply) agent.succeed(idText, JSON.stringify(reply.result));
      else agent.fail(idText, failure('MCP_REFUSED', [reply.error.message], { error: reply.error }));
    },
    (method, note) =>
      agent.connection === connection && agent.notifyLine('mcp/message', JSON.stringify({ ...names, method, params: note })),
  );
  open.set(idText, cancelRequest);
  return true;
}

function connect({ byServerId, byConnectionId }: ToolAttachments, agent: Agent, frame: Frame): boolean {
  const entry = byServerId.get(stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'acpId')) ?? '');
  if (entry?.agent !== agent) return false;
  const connectionId = `switchboard-${randomUUID()}`;
  const forget = entry.toolServer.onRevoke(() => byConnectionId.delete(connectionId));
  byConnectionId.set(connectionId, { ...entry, forget });
  agent.succeed(idTextOf(frame), JSON.stringify({ connectionId }));
  return true;
}

function disconnect(attachments: ToolAttachments, agent: Agent, frame: Frame): boolean {
  if (!connected(attachments, agent, frame)) return false;
  const connectionId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'connectionId')) ?? '';
  attachments.byConnectionId.get(connectionId)?.forget();
  attachments.byConnectionId.delete(connectionId);
  agent.succeed(idTextOf(frame), '{}');
  return true;
}

function cancelRequest({ byServerId, channels }: ToolAttachments, agent: Agent, frame: Frame): boolean {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  if (!span) return false;
  const idText = textOf(frame.bytes, span);
  for (const entry of byServerId.values()) {
    const cancelRequest = entry.agent === agent ? channels.get(entry.toolServer)?.open.get(idText) : undefined;
    if (!cancelRequest) continue;
    cancelRequest();
    channels.get(entry.toolServer)?.open.delete(idText);
    agent.fail(idText, failure('CANCELLED', ['mcp/message']));
    return true;
  }
  return false;
}
