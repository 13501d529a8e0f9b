// Reads the params that open a session: fields that not every agent supports, and MCP servers inside the client.
import path from 'node:path';
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import type { SessionRecord } from '../../store/sessions/session-store.ts';
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

export const capabilityMissing = (request: ClientRequest, agent: Agent, field: string): ProxyError =>
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

/** For session/new: the params of a load name the session too. */
export function paramsForNew(openParams: string | undefined): string | undefined {
  if (openParams === undefined || !openParams.includes('"sessionId"')) return openParams;
  const { sessionId: _, ...params } = JSON.parse(openParams);
  return JSON.stringify(params);
}

/** The directories, in addition to `cwd`, that a session was opened with. */
export function moreDirectories(openParams: string | undefined): readonly string[] {
  const params = (openParams === undefined ? null : JSON.parse(openParams)) as { additionalDirectories?: unknown } | null;
  const given = Array.isArray(params?.additionalDirectories) ? params.additionalDirectories : [];
  return given.filter((one): one is string => typeof one === 'string');
}

/**
 * Several agents need an absolute `cwd` to choose by; a policy and our workspace need one to evaluate paths. Without them, a single agent
 * decides.
 */
export function isCwdUsable({ pool, context }: Parts<'pool' | 'context'>, cwd: string | undefined): boolean {
  const isNeeded = !pool.single || context.enforcement !== undefined || (pool.initializeParams?.served.size ?? 0) > 0;
  return !isNeeded || (cwd !== undefined && path.isAbsolute(cwd));
}

/** All directories of a session, `cwd` first. None if the params cannot be read: the agent refuses them. */
export function directoriesIn(openParams: string | undefined): readonly string[] {
  try {
    const params = (openParams === undefined ? null : JSON.parse(openParams)) as { cwd?: unknown } | null;
    const all = [params?.cwd, ...moreDirectories(openParams)];
    return all.filter((one): one is string => typeof one === 'string' && path.isAbsolute(one));
  } catch {
    return [];
  }
}

type Recorded = Pick<Session, 'recordId' | 'nativeId' | 'cwd' | 'openParams' | 'agentLocked' | 'settings'> & {
  readonly agent: Pick<Agent, 'name'>;
};

/** The record of a session, for later processes. `toolServer` is undefined for a session without host tools. */
export function recordOf(
  { recordId, agent, nativeId, cwd, openParams, agentLocked, settings }: Recorded,
  at: string,
  toolServer: NonNullable<NonNullable<Session['usedServers']>['attachment']>['toolServer'] | undefined,
): SessionRecord {
  const { transport, state } = toolServer ?? {};
  const isTaken = state === 'listed' || state === 'called';
  const names = isTaken ? { names: toolServer?.tools().map(({ name }) => name) } : {};
  const more = moreDirectories(openParams);
  return {
    ...{ sessionId: recordId, agent: agent.name, nativeId, ...(cwd !== undefined && { cwd }), at },
    ...(more.length > 0 && { additionalDirectories: more }),
    ...(!agentLocked && { isUnprompted: true, ...(settings && { settings }) }),
    ...(transport !== undefined && state !== undefined && { tools: { transport, state, ...names } }),
  };
}

/** Records the session as it is now. */
export function record({ context }: Parts<'context'>, session: Session): void {
  if (session.delegation) return; // its public id is the parent's
  context.log.append(recordOf(session, context.clock.now(), session.usedServers?.attachment?.toolServer));
}
