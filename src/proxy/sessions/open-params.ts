// Reads the params that open a session: fields that not every agent supports, and MCP servers inside the client.
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { elements, member, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import type { Session } from './session.ts';

/** Fields that an agent without support would silently ignore. */
const GATED_FIELDS = ['additionalDirectories', 'systemPrompt'];

/** The first such field that is set and that the agent does not support. */
export function missingFor(agent: Agent, paramsText: string | undefined): string | undefined {
  const params = (paramsText === undefined ? null : JSON.parse(paramsText)) as Record<string, unknown> | null;
  return GATED_FIELDS.find((field) => isGiven(params?.[field]) && !offers(agent.handshake?.result, 'sessionCapabilities', field));
}

export const lacking = (request: ClientRequest, agent: Agent, field: string): ProxyError =>
  failure('CAPABILITY_MISSING', [request.method, agent.name, field], { agent: agent.name });

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

/** Notes servers inside the client: only an agent that was given a server may call it. */
export function noteServers(agent: Agent, paramsText: string | undefined): void {
  if (paramsText === undefined) return;
  const bytes = Buffer.from(paramsText);
  const servers = member(bytes, 0, 'mcpServers');
  if (!servers) return;
  for (const { start } of elements(bytes, servers.start)) {
    const serverId = stringAt(bytes, member(bytes, start, 'serverId'));
    if (serverId !== undefined) agent.mcpServers.set(serverId, stringAt(bytes, member(bytes, start, 'name')) ?? serverId);
  }
}

/** The directories, in addition to `cwd`, that a session was opened with. */
export function moreDirectories(openParams: string | undefined): readonly string[] {
  const params = (openParams === undefined ? null : JSON.parse(openParams)) as { additionalDirectories?: unknown } | null;
  const given = Array.isArray(params?.additionalDirectories) ? params.additionalDirectories : [];
  return given.filter((one): one is string => typeof one === 'string');
}

/** Records the session for later processes. `toolServer` is for a session whose tools are not attached yet. */
export function record(
  proxy: Parts<'context'>,
  { publicId, agent, nativeId, cwd, openParams, usedServers, delegation }: Session,
  toolServer = usedServers?.attachment?.toolServer,
): void {
  if (delegation) return; // its public id is the parent's
  const { transport, state } = toolServer ?? {};
  const more = moreDirectories(openParams);
  proxy.context.log.append({
    ...{ sessionId: publicId, agent: agent.name, nativeId, ...(cwd !== undefined && { cwd }), at: proxy.context.clock.now() },
    ...(more.length > 0 && { additionalDirectories: more }),
    ...(transport !== undefined && state !== undefined && { tools: { transport, state } }),
  });
}
