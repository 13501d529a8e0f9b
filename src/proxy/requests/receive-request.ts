// A request from an agent on its way to the client: unless our own server, the policy or our workspace answers it.
import type { Key } from '../../acp/methods.ts';
import { failure } from '../../errors.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { PassOn } from '../enforcement/enforcement.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { toPublic } from '../rewrite.ts';
import type { Session } from '../sessions/session.ts';
import { answeredByToolServer } from '../tools/acp-messages.ts';
import { delegationPatches } from '../tools/delegation-view.ts';
import { hostToolAnswerReader } from '../tools/report-host-call.ts';
import { type AgentRequest, CANCELLED_PERMISSION } from './agent-requests.ts';
import { keepIfAlways, recalledAnswer } from './always-answers.ts';
import { duplicateId } from './duplicate-ids.ts';
import { elicitation } from './elicitation.ts';
import { mcpMessage } from './mcp-message.ts';
import { isUsableAnswer, offeredOptions } from './permission-answer.ts';
import { isServedHere, nobodyServes, serveWorkspace, withdrawServed } from './serve-workspace.ts';

/** Per session: more than a person can attend to, and few enough for the client. */
const MAX_PERMISSIONS = 32;
const MAX_TERMINALS = 64;

/** Puts the request to the client, with these changes. */
export type Put = (
  patches: readonly Patch[],
  more?: Partial<Pick<AgentRequest, 'onClosed' | 'session'>> & {
    /** With the request's current session, which may have been opened after the request came. */
    readonly onAnswer?: (answer: Frame, session: Session | undefined) => boolean;
  },
) => void;

/** Our own server and the policy come first; then the client answers, or our workspace in its place. */
export function receiveRequest(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, key: Key): void {
  const idText = idTextOf(frame);
  const before = proxy.requests.find(agent, idText);
  if (before?.isOpen) return agent.fail(idText, failure('ID_IN_USE', [idText]));
  const twice = duplicateId(proxy, frame);
  if (twice !== undefined) return agent.fail(idText, failure('AMBIGUOUS', [twice]));
  if (nobodyServes(proxy, frame.method)) return agent.fail(idText, failure('CLIENT_UNSUPPORTED', [frame.method as string]));
  if (proxy.tools.attachments && answeredByToolServer(proxy, agent, frame)) return;
  if (proxy.context.enforcement)
    proxy.context.enforcement.agentRequest(agent, session, frame, (evaluated, more) =>
      passOn(proxy, agent, currentSession(agent, session), evaluated, key, more),
    );
  else passOn(proxy, agent, session, frame, key);
}

/** A session that the agent named early may have been opened while the policy's own request waited. */
function currentSession(agent: Agent, session: Session | undefined): Session | undefined {
  return session && (agent.sessions.get(session.nativeId) ?? session);
}

function passOn(
  proxy: Parts<'context' | 'pool' | 'registry' | 'requests' | 'client'>,
  agent: Agent,
  session: Session | undefined,
  frame: Frame,
  key: Key,
  enforcement?: Parameters<PassOn>[1],
): AgentRequest | undefined {
  const terminalId = () => stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'terminalId'));
  if (isServedHere(proxy, session, frame.method as string, terminalId)) {
    serveWorkspace(proxy, agent, session, frame, enforcement?.evaluatedPath);
    return undefined;
  }
  const idText = idTextOf(frame);
  // A policy has a limit of its own.
  const isLimited = frame.method === 'session/request_permission' && !enforcement?.onClosed && agent.spec.timeouts.permissionMs > 0;
  let agentRequest: AgentRequest | undefined;
  const put: Put = (patches, more) => {
    const { onAnswer } = more ?? {};
    let stopLimit = () => {};
    const asked = {
      idText,
      method: frame.method as string,
      agent,
      session: more?.session ?? session,
      onAnswer: enforcement?.onAnswer ?? (onAnswer && ((answer: Frame) => onAnswer(answer, agentRequest?.session))),
      onCancel: enforcement?.onCancel,
      onClosed: enforcement?.onClosed ?? more?.onClosed ?? (isLimited ? () => stopLimit() : undefined),
      evaluated: enforcement?.about,
    };
    const ofDelegation = session?.delegation ? delegationPatches(session, frame) : [];
    agentRequest = proxy.requests.put(asked, frame, [
      ...toPublic(session, frame),
      ...ofDelegation,
      ...(enforcement?.patches ?? []),
      ...patches,
    ]);
    if (isLimited) stopLimit = limitPermission(proxy, agentRequest);
  };
  toClient(proxy, agent, session, frame, key, put);
  return agentRequest;
}

/** Nobody may be there to answer: the agent hears `cancelled` after its `timeouts.permission_ms`. Returns a function that stops the timer. */
function limitPermission({ context, requests }: Parts<'context' | 'requests'>, request: AgentRequest): () => void {
  return context.clock.after(request.agent.spec.timeouts.permissionMs, () => requests.expire(request));
}

/** Routes by `key`, because the named object may belong to another agent; otherwise checks the limits. */
function toClient(
  proxy: Parts<'context' | 'pool' | 'registry' | 'requests' | 'client'>,
  agent: Agent,
  session: Session | undefined,
  frame: Frame,
  key: Key,
  put: Put,
): void {
  if (key === 'terminalId') return terminal(proxy, agent, session, frame, put);
  if (key === 'serverId') return mcpMessage(proxy, agent, frame, put);
  const idText = idTextOf(frame);
  const most = Math.min(MAX_PERMISSIONS, proxy.context.enforcement?.maxPendingPermissions() ?? MAX_PERMISSIONS);
  switch (frame.method) {
    case 'session/request_permission':
      if (session && proxy.requests.count({ session }, 'session/request_permission') >= most)
        return agent.fail(idText, failure('TOO_MANY_OPEN', ['permission requests', most]));
      return putPermission(proxy, agent, session, frame, put);
    case 'terminal/create':
      if (session && proxy.registry.terminalCount(session) + proxy.requests.count({ session }, 'terminal/create') >= MAX_TERMINALS)
        return agent.fail(idText, failure('TOO_MANY_OPEN', ['terminals', MAX_TERMINALS]));
      return put([], { onAnswer: (answer, askedIn) => noteTerminal(proxy, agent, askedIn, answer) });
    case 'elicitation/create':
      return elicitation(proxy, agent, session, frame, put);
    default:
      return put([]);
  }
}

/** The user's consent to the call of a host tool is not asked for again, and neither is what the user has answered with "always". */
function putPermission(
  proxy: Parts<'context' | 'pool' | 'client'>,
  agent: Agent,
  session: Session | undefined,
  frame: Frame,
  put: Put,
): void {
  const idText = idTextOf(frame);
  const recalled = session && recalledAnswer(proxy, session, frame);
  if (recalled !== undefined) return agent.succeed(idText, recalled);
  const read = hostToolAnswerReader(session, frame);
  const keep = session && keepIfAlways(proxy, session, frame);
  const offered = offeredOptions(frame);
  put([], {
    onAnswer(answer) {
      if (!isUsableAnswer(answer, offered)) {
        agent.succeed(idText, CANCELLED_PERMISSION);
        return true;
      }
      read?.(answer);
      keep?.(answer);
      return false;
    },
  });
}

function noteTerminal(proxy: Parts<'registry'>, agent: Agent, session: Session | undefined, answer: Frame): boolean {
  const terminalId = answer.outcome === 'result' ? stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'terminalId')) : undefined;
  if (terminalId === undefined) return false;
  proxy.registry.addTerminal(terminalId, agent, session);
  return false;
}

/** Clients know terminals only by id: without this check, one agent could read another's. */
function terminal(proxy: Parts<'pool' | 'registry'>, agent: Agent, session: Session | undefined, frame: Frame, put: Put): void {
  const terminalId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'terminalId')) ?? '';
  const { registry, pool } = proxy;
  // With one agent, the client decides about a terminal that we have not seen created.
  const isOwn = registry.isTerminalKnown(terminalId) ? registry.ownsTerminal(terminalId, agent, session) : pool.single !== undefined;
  if (!isOwn) return agent.fail(idTextOf(frame), failure('TERMINAL_FOREIGN', [terminalId]));
  if (frame.method === 'terminal/release') registry.removeTerminal(terminalId, session);
  put([]);
}

/** The agent withdraws a request. The client knows it by another id, and still answers it. */
export function withdrawRequest(proxy: Parts<'context' | 'requests'>, agent: Agent, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const asked = span && proxy.requests.find(agent, textOf(frame.bytes, span));
  // After our answer, the agent may have sent another request with the same id, which waits.
  if (span && !asked?.isOpen && proxy.context.enforcement?.withdrawWaiting(agent, textOf(frame.bytes, span))) return;
  if (span && asked) proxy.requests.forwardCancel(asked, frame, span);
  else if (!withdrawServed(agent, frame)) proxy.context.counters.strayAnswers++;
}
