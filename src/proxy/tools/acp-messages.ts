// MCP messages of agents that reach our server through their own ACP connection: `mcp/message`, and `mcp/connect` of an older draft.
import { randomUUID } from 'node:crypto';
import { failure } from '../../errors.ts';
import { OUR_SERVER } from '../../mcp/server/host-tools.ts';
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { Hub } from '../hub.ts';
import type { Lending } from './host-tools.ts';

/** Whether the request is for a server of ours; then it is answered here. */
export function takenByUs({ lending }: Hub, leg: AgentLeg, frame: Frame): boolean {
  if (!lending) return false;
  switch (frame.method) {
    case 'mcp/message':
      return message(lending, leg, frame);
    case 'mcp/connect':
      return connect(lending, leg, frame);
    case 'mcp/disconnect':
      return disconnect(lending, leg, frame);
    default:
      return false;
  }
}

/** Likewise a notification. */
export function noteTakenByUs({ lending }: Hub, leg: AgentLeg, frame: Frame): boolean {
  if (!lending || lending.byServerId.size === 0) return false;
  if (frame.method === '$/cancel_request') return takeBack(lending, leg, frame);
  const toolServer = connected(lending, leg, frame);
  const body = toolServer && readBody(frame);
  if (!toolServer || !body?.ok) return false;
  const { method, params } = (body.value ?? {}) as { method?: unknown; params?: unknown };
  if (typeof method === 'string') channelOf(lending, toolServer).pipe.notify(method, params);
  return true;
}

function channelOf({ channels, hostTools }: Lending, toolServer: ToolServer) {
  const channel = channels.get(toolServer) ?? { pipe: hostTools.pipe(toolServer), open: new Map<string, () => void>() };
  channels.set(toolServer, channel);
  return channel;
}

/** The lease behind the connection a frame names, if it is this agent's. */
function connected({ byConnectionId }: Lending, leg: AgentLeg, frame: Frame): ToolServer | undefined {
  const entry = byConnectionId.get(stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'connectionId')) ?? '');
  return entry?.leg === leg ? entry.toolServer : undefined;
}

function message(lending: Lending, leg: AgentLeg, frame: Frame): boolean {
  const { bytes, body } = frame;
  const serverId = stringAt(bytes, memberAt(bytes, body, 'serverId')) ?? '';
  const entry = lending.byServerId.get(serverId);
  const isOld = entry?.leg !== leg;
  const toolServer = isOld ? connected(lending, leg, frame) : entry.toolServer;
  const idText = idTextOf(frame);
  if (!toolServer && serverId.startsWith(OUR_SERVER)) {
    // Of a session that is over, or of another agent's. The editor has never heard of it.
    leg.fail(idText, failure('MCP_REFUSED', ['the session this server belonged to has ended']));
    return true;
  }
  if (!toolServer) return false;
  const params = readBody(frame);
  const asked = (params.ok ? params.value : undefined) as Record<string, unknown> | undefined;
  if (!params.ok || typeof asked?.method !== 'string') {
    leg.fail(idText, failure('PARAMS', ['mcp/message', params.ok ? 'method is missing' : params.reason]));
    return true;
  }
  const names = isOld ? { connectionId: asked.connectionId } : { serverId: asked.serverId, requestId: asked.requestId };
  const { pipe, open } = channelOf(lending, toolServer);
  const { lives } = leg;
  const takeBack = pipe.request(
    asked.method,
    asked.params,
    (reply) => {
      open.delete(idText);
      if (leg.lives !== lives) return; // to another life the id means something else
      // The current draft wraps the inner answer, the older one has it as it is.
      if (!isOld) leg.succeed(idText, JSON.stringify(reply));
      else if ('result' in reply) leg.succeed(idText, JSON.stringify(reply.result));
      else leg.fail(idText, failure('MCP_REFUSED', [reply.error.message], { error: reply.error }));
    },
    (method, note) => leg.lives === lives && leg.notifyLine('mcp/message', JSON.stringify({ ...names, method, params: note })),
  );
  open.set(idText, takeBack);
  return true;
}

function connect({ byServerId, byConnectionId }: Lending, leg: AgentLeg, frame: Frame): boolean {
  const entry = byServerId.get(stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'acpId')) ?? '');
  if (entry?.leg !== leg) return false;
  const connectionId = `switchboard-${randomUUID()}`;
  const forget = entry.toolServer.onRevoke(() => byConnectionId.delete(connectionId));
  byConnectionId.set(connectionId, { ...entry, forget });
  leg.succeed(idTextOf(frame), JSON.stringify({ connectionId }));
  return true;
}

function disconnect(lending: Lending, leg: AgentLeg, frame: Frame): boolean {
  if (!connected(lending, leg, frame)) return false;
  const connectionId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'connectionId')) ?? '';
  lending.byConnectionId.get(connectionId)?.forget();
  lending.byConnectionId.delete(connectionId);
  leg.succeed(idTextOf(frame), '{}');
  return true;
}

function takeBack({ byServerId, channels }: Lending, leg: AgentLeg, frame: Frame): boolean {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  if (!span) return false;
  const idText = textOf(frame.bytes, span);
  for (const entry of byServerId.values()) {
    const takeBack = entry.leg === leg ? channels.get(entry.toolServer)?.open.get(idText) : undefined;
    if (!takeBack) continue;
    takeBack();
    channels.get(entry.toolServer)?.open.delete(idText);
    leg.fail(idText, failure('CANCELLED', ['mcp/message']));
    return true;
  }
  return false;
}
