// Agents' calls to MCP servers inside the client. Progress names the server and the request id, so two agents must not share a pair.
import { failure } from '../../errors.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import { isForBridge, noteForBridge, requestName } from '../tools/session-servers.ts';
import type { Put } from './receive-request.ts';

const requestIdOf = (name: string, serverId: string): string => name.slice(requestName(serverId, '').length);

export function mcpMessage(proxy: Parts<'pool' | 'requests'>, agent: Agent, frame: Frame, put: Put): void {
  const serverId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'serverId'));
  const named = memberAt(frame.bytes, frame.body, 'requestId');
  const requestId = stringAt(frame.bytes, named);
  if (serverId === undefined || !named || requestId === undefined) return put([]);
  if (!proxy.pool.single && !agent.mcpServers.has(serverId))
    return agent.fail(idTextOf(frame), failure('MCP_SERVER_UNKNOWN', [serverId], { serverId }));
  const publicName = proxy.requests.mcpRequests.claim(agent, requestName(serverId, requestId));
  const publicId = requestIdOf(publicName, serverId);
  const patches = publicId === requestId ? [] : [{ span: named, text: JSON.stringify(publicId) }];
  put(patches, { onClosed: () => proxy.requests.mcpRequests.release(publicName) });
}

/** The client's notifications about a call under way. */
export function mcpProgress(proxy: Parts<'context' | 'pool' | 'requests' | 'tools'>, frame: Frame): void {
  const serverId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'serverId')) ?? '';
  const requestId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'requestId')) ?? '';
  if (isForBridge(proxy, serverId, requestId)) {
    const body = readBody(frame);
    return body.ok ? noteForBridge(proxy, serverId, requestId, body.value) : undefined;
  }
  if (proxy.pool.single) return proxy.pool.single.notify(frame, () => []);
  const owner = proxy.requests.mcpRequests.find(requestName(serverId, requestId));
  if (!owner) {
    proxy.context.counters.strayAnswers++;
    return;
  }
  const native = requestIdOf(owner.name, serverId);
  owner.agent.notify(frame, (sent) =>
    native === requestId ? [] : [{ span: memberAt(sent.bytes, sent.body, 'requestId') as Span, text: JSON.stringify(native) }],
  );
}
