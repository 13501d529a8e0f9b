// One answer to initialize for all agents: from the capability cache, else after all of them have been asked.
import type { AuthMethod, InitializeResult } from '../acp/shapes.ts';
import { type Handshake, parseHandshake } from '../agents/handshake.ts';
import { isSame, isSelectedDialect, PLAIN } from '../dialects/select-dialect.ts';
import { failure } from '../errors.ts';
import { type Answered, BASELINE, mergeInitialize, repointed, withBridges, withMedia } from '../router/capabilities.ts';
import type { Frame } from '../wire/frame.ts';
import { memberAt } from '../wire/json-path.ts';
import { readBody } from '../wire/scanner/strict-parse.ts';
import type { Agent } from './agents/agent.ts';
import type { ClientRequest } from './boundary.ts';
import { hasNonObjectParams, paramsMustBeObject } from './params.ts';
import type { Parts } from './parts.ts';
import { type ClientParams, withWorkspace } from './requests/serve-workspace.ts';
import { cacheKey } from './tools/check-tool-use.ts';
import { hasBridges } from './tools/session-servers.ts';

/** Answers initialize, then calls `answered`; false when the params are unusable. */
export function initialize(
  proxy: Parts<'context' | 'pool' | 'client' | 'tools'>,
  request: ClientRequest,
  frame: Frame,
  answered: () => void,
): boolean {
  const params = readBody(frame);
  if (!params.ok) {
    proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
    return false;
  }
  if (hasNonObjectParams(frame)) {
    proxy.client.fail(request, paramsMustBeObject(request.method));
    return false;
  }
  const { servesMissing, workspace } = proxy.context;
  proxy.pool.initialized(withWorkspace(servesMissing ? workspace : undefined, forAgents(frame, params.value)));
  let abandon = () => {};
  const answer = () => {
    if (request.isAnswered) return;
    abandon();
    proxy.client.succeed(request, proxy.pool.single ? singleAnswer(proxy, proxy.pool.single) : mergedAnswer(proxy));
    answered();
    // The answer leaves first: starting a process takes longer than everything before it.
    // For network clients, which may be many, agents start with the first session.
    if (!proxy.context.scope) queueMicrotask(() => (proxy.pool.single ?? proxy.pool.get(proxy.pool.choice.defaultAgent))?.start());
  };
  const unknown = proxy.pool.all().filter((agent) => !recallHandshake(proxy, agent));
  if (unknown.length === 0) {
    answer();
    return true;
  }
  let open = unknown.length;
  const one = () => {
    if (--open === 0) answer();
  };
  for (const agent of unknown) agent.whenReady(one, one);
  // A single agent may take as long as it would without the proxy; several must not wait for the slowest.
  if (!proxy.pool.single) {
    abandon = proxy.context.clock.after(proxy.context.initializeWaitMs, () => {
      for (const agent of unknown) if (agent.isStarted && !agent.handshake) cacheHandshake(proxy, agent, undefined);
      answer();
    });
  }
  return true;
}

/** Agents are asked for version 1, whatever the client asked for; the rest of its params passes unchanged. */
function forAgents(frame: Frame, params: unknown): ClientParams {
  const { protocolVersion, clientCapabilities, capabilities, info, clientInfo } = (params ?? {}) as Record<string, unknown>;
  const isV2 = typeof protocolVersion === 'number' && protocolVersion > 1 && clientCapabilities === undefined && capabilities !== undefined;
  if (isV2) {
    const downgraded = downgrade(capabilities as Record<string, unknown>);
    return {
      paramsText: JSON.stringify({ protocolVersion: 1, clientCapabilities: downgraded, clientInfo: clientInfo ?? info }),
      clientCapabilities: downgraded,
    };
  }
  const { bytes, body } = frame;
  const version = memberAt(bytes, body, 'protocolVersion');
  if (!body || !version) return { paramsText: '{"protocolVersion":1}', clientCapabilities };
  return {
    paramsText: `${bytes.toString('utf8', body.start, version.start)}1${bytes.toString('utf8', version.end, body.end)}`,
    clientCapabilities,
  };
}

/** The capabilities of a client of the v2 draft as version 1 writes them: it has neither fs nor terminal. */
function downgrade(capabilities: Record<string, unknown>): Record<string, unknown> {
  const auth = capabilities.auth as { terminal?: unknown } | undefined;
  return {
    fs: { readTextFile: false, writeTextFile: false },
    terminal: false,
    session: { configOptions: { boolean: {} } },
    plan: {},
    ...(auth?.terminal !== undefined && { auth: { terminal: auth.terminal !== null && auth.terminal !== false } }),
    ...(capabilities.elicitation !== undefined && { elicitation: capabilities.elicitation }),
  };
}

function singleAnswer(proxy: Parts<'context' | 'pool' | 'tools'>, agent: Agent): string {
  if (!agent.handshake) return JSON.stringify({ ...mergeInitialize([], proxy.context), agentCapabilities: BASELINE.agentCapabilities });
  const { text } = agent.handshake;
  const result = announced(agent, agent.handshake.result);
  const isRepointed = result.authMethods?.some(isTerminal);
  const isBridged = hasBridges(proxy, agent);
  if (!isRepointed && !isBridged && result === agent.handshake.result) return text;
  const { agentCapabilities, authMethods } = result;
  return JSON.stringify({
    ...result,
    ...(isRepointed && authMethods && { authMethods: offered(proxy, authMethods).map((method) => repointed(agent.name, method)) }),
    ...(isBridged && { agentCapabilities: { ...agentCapabilities, mcpCapabilities: withBridges(agentCapabilities?.mcpCapabilities) } }),
  });
}

/** A client must be able to attach the images and audio that `unsupported_content` has described to the agent. */
function announced({ spec, handshake, unsupportedMedia }: Agent, result: InitializeResult): InitializeResult {
  if (spec.unsupportedContent !== 'describe' || (handshake && unsupportedMedia.length === 0)) return result;
  const { agentCapabilities } = result;
  return { ...result, agentCapabilities: { ...agentCapabilities, promptCapabilities: withMedia(agentCapabilities?.promptCapabilities) } };
}

function mergedAnswer(proxy: Parts<'context' | 'pool' | 'tools'>): string {
  const titles = new Map(proxy.pool.titles().map(({ name, title }) => [name, title]));
  const merged = mergeInitialize(
    usableAgents(proxy).map((agent) => ({ ...agent, title: titles.get(agent.name) ?? agent.name })),
    proxy.context,
  );
  return JSON.stringify(merged.authMethods ? { ...merged, authMethods: offered(proxy, merged.authMethods) } : merged);
}

const isTerminal = ({ type }: AuthMethod): boolean => type === 'terminal';

/** A terminal method runs our command on the client's machine, which is another one for a network client. */
const offered = ({ context }: Parts<'context'>, methods: readonly AuthMethod[]): readonly AuthMethod[] =>
  context.scope ? methods.filter((method) => !isTerminal(method)) : methods;

/** The agents that can be used, as far as is known. An agent that failed to start contributes no capabilities. */
export function usableAgents(proxy: Parts<'pool' | 'tools'>): readonly Answered[] {
  return proxy.pool.all().flatMap((agent) => {
    const { name, title, handshake, isStarted } = agent;
    if (!handshake && !isStarted) return [];
    return [{ name, title, result: announced(agent, handshake?.result ?? BASELINE), hasBridges: hasBridges(proxy, agent) }];
  });
}

function recallHandshake(proxy: Parts<'context' | 'pool'>, agent: Agent): boolean {
  if (agent.handshake) return true;
  const cached = proxy.context.cache.find(cacheKey(proxy, agent));
  // A single agent that was too late the last time is asked again: no other agent waits for it.
  if (!cached || (proxy.pool.single && cached.text === undefined)) return false;
  const handshake = cached.text === undefined ? { result: BASELINE, text: JSON.stringify(BASELINE) } : parseHandshake(cached.text);
  if (!handshake) return false;
  agent.noteHandshake(handshake, isSelectedDialect(cached.dialect) ? cached.dialect : undefined);
  return true;
}

/** Caches an agent's answer; `undefined` for one that was too late, so that the next client does not wait for it again. */
export function cacheHandshake(proxy: Parts<'context' | 'pool'>, agent: Agent, handshake: Handshake | undefined): void {
  const key = cacheKey(proxy, agent);
  const before = proxy.context.cache.find(key);
  if (before && handshake && before.text !== undefined && before.text !== handshake.text)
    proxy.context.report(`agent "${agent.name}" has changed its capabilities; editors see them from the next start on`);
  const dialect = agent.selectedDialect && !isSame(agent.selectedDialect, PLAIN) ? agent.selectedDialect : undefined;
  proxy.context.cache.keep(key, { agent: agent.name, version: handshake?.result.agentInfo?.version, text: handshake?.text, dialect });
}
