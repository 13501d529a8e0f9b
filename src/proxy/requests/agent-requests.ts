// Requests of agents that the editor answers: put to it, taken back, answered.
import type { Key } from '../../acp/methods.ts';
import { failure } from '../../errors.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentRequest, NewAgentRequest } from '../client/client-connection.ts';
import type { PassOn } from '../enforcement/enforcement.ts';
import { duplicateKeys } from '../named-twice.ts';
import type { ProxyParts } from '../parts.ts';
import { type Session, toPublic } from '../sessions/session.ts';
import { takenByUs } from '../tools/acp-messages.ts';
import { asDelegated } from '../tools/delegation-view.ts';
import { cancelRequest } from '../turns/cancel.ts';
import { mcpMessage } from './mcp-message.ts';
import { isServed, serveWorkspace, withdrawServed } from './serve-workspace.ts';

/** Per session: more than any person can attend to, few enough for the editor to bear. */
const MAX_PERMISSIONS = 32;
const MAX_ELICITATIONS = 32;
const MAX_TERMINALS = 64;
const ELICITATION = 'elicitation/create';

/** Puts the question at hand to the editor, with these changes. */
export type Put = (
  patches: readonly Patch[],
  more?: Partial<Pick<AgentRequest, 'onSettled' | 'session'>> & {
    /** With the session that it is asked in by then: it may have been asked before that was open. */
    readonly onAnswer?: (answer: Frame, session: Session | undefined) => boolean;
  },
) => void;

/** To the editor, or to our own workspace in its place, unless it is for our own server or a policy settles it first. */
export function putRequest(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, key: Key): void {
  const idText = idTextOf(frame);
  const before = proxy.client.findRequest(agent, idText);
  if (before && !before.isAnswered) return agent.fail(idText, failure('ID_IN_USE', [idText]));
  const twice = duplicateKeys(proxy, frame);
  if (twice !== undefined) return agent.fail(idText, failure('AMBIGUOUS', [twice]));
  if (proxy.tools.attachments && takenByUs(proxy, agent, frame)) return;
  if (proxy.context.enforcement)
    proxy.context.enforcement.agentRequest(proxy, agent, session, frame, (mine, more) =>
      passOn(proxy, agent, openBy(agent, session), mine, key, more),
    );
  else passOn(proxy, agent, session, frame, key);
}

/** A session that the agent spoke of may have been opened while the policy's own request about it waited. */
function openBy(agent: Agent, session: Session | undefined): Session | undefined {
  return session && (agent.sessions.get(session.nativeId) ?? session);
}

function passOn(
  proxy: ProxyParts,
  agent: Agent,
  session: Session | undefined,
  frame: Frame,
  key: Key,
  enforcement?: Parameters<PassOn>[1],
): AgentRequest | undefined {
  if (isServed(proxy, frame.method)) {
    serveWorkspace(proxy, agent, session, frame, enforcement?.judged);
    return undefined;
  }
  const idText = idTextOf(frame);
  let agentRequest: AgentRequest | undefined;
  const put: Put = (patches, more) => {
    const { onAnswer } = more ?? {};
    const asked: NewAgentRequest = {
      idText,
      method: frame.method as string,
      agent,
      session: more?.session ?? session,
      onAnswer: enforcement?.onAnswer ?? (onAnswer && ((answer) => onAnswer(answer, agentRequest?.session))),
      onCancel: enforcement?.onCancel,
      onSettled: enforcement?.onSettled ?? more?.onSettled,
      judged: enforcement?.about,
    };
    const ofErrand = session?.delegation ? asDelegated(session, frame) : [];
    agentRequest = proxy.client.ask(frame, asked, [...toPublic(session, frame), ...ofErrand, ...(enforcement?.patches ?? []), ...patches]);
  };
  toClient(proxy, agent, session, frame, key, put);
  return agentRequest;
}

/** What is named by `key` may be another agent's; the rest goes by what we count of it. */
function toClient(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, key: Key, put: Put): void {
  if (key === 'terminalId') return terminal(proxy, agent, session, frame, put);
  if (key === 'serverId') return mcpMessage(proxy, agent, frame, put);
  const idText = idTextOf(frame);
  const most = Math.min(MAX_PERMISSIONS, proxy.context.enforcement?.maxPendingPermissions() ?? MAX_PERMISSIONS);
  switch (frame.method) {
    case 'session/request_permission':
      if (session && openRequests(session, 'session/request_permission') >= most)
        return agent.fail(idText, failure('TOO_MANY_OPEN', ['permission requests', most]));
      return put([]);
    case 'terminal/create':
      if (session && proxy.registry.terminalCount(session) + openRequests(session, 'terminal/create') >= MAX_TERMINALS)
        return agent.fail(idText, failure('TOO_MANY_OPEN', ['terminals', MAX_TERMINALS]));
      return put([], { onAnswer: (answer, askedIn) => noteTerminal(proxy, agent, askedIn, answer) });
    case ELICITATION:
      return elicitation(proxy, agent, session, frame, put);
    default:
      return put([]);
  }
}

function openRequests(session: Session, method: string): number {
  let count = 0;
  for (const asked of session.agentRequests) if (asked.method === method) count++;
  return count;
}

/** An agent may also want to know something before there is a session. */
function sessionless(proxy: ProxyParts, agent: Agent): number {
  return proxy.client.requestsOf(agent).filter((asked) => asked.session === undefined && asked.method === ELICITATION).length;
}

function noteTerminal(proxy: ProxyParts, agent: Agent, session: Session | undefined, answer: Frame): boolean {
  const terminalId = answer.outcome === 'result' ? stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'terminalId')) : undefined;
  if (terminalId === undefined) return false;
  proxy.registry.addTerminal(terminalId, agent, session);
  return false;
}

/** The editor tells terminals apart by id alone: without this, one agent could read another's. */
function terminal(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, put: Put): void {
  const terminalId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'terminalId')) ?? '';
  const owner = proxy.registry.terminalOwner(terminalId);
  // With one agent, an id that we have not seen made is the editor's to judge.
  const isOwn = owner ? owner.agent === agent && owner.sessionId === session?.publicId : proxy.pool.single !== undefined;
  if (!isOwn) return agent.fail(idTextOf(frame), failure('TERMINAL_FOREIGN', [terminalId]));
  if (frame.method === 'terminal/release') proxy.registry.removeTerminal(terminalId, session);
  put([]);
}

/** May speak of a request of the editor's, by the id the agent saw, and brings an id of its own that another agent may use too. */
function elicitation(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, put: Put): void {
  const { bytes, body } = frame;
  const patches: Patch[] = [];
  const about = memberAt(bytes, body, 'requestId');
  const request = about && agent.findCall(textOf(bytes, about))?.request;
  if (about) {
    // About a request of ours, or none at all: nobody is there to be asked.
    if (!request) return agent.succeed(idTextOf(frame), '{"action":"cancel"}');
    patches.push({ span: about, text: request.idText });
  }
  // The session of a prompt that was closed in mid-turn is gone, and the id may be open again.
  const owner = session ?? request?.session;
  if ((owner ? openRequests(owner, ELICITATION) : sessionless(proxy, agent)) >= MAX_ELICITATIONS)
    return agent.fail(
      idTextOf(frame),
      failure('TOO_MANY_OPEN', ['elicitations', MAX_ELICITATIONS, owner ? undefined : 'before a session']),
    );
  const named = memberAt(bytes, body, 'elicitationId');
  const name = stringAt(bytes, named);
  if (named && name !== undefined) {
    const publicName = proxy.names.elicitations.claim(agent, name);
    if (publicName !== name) patches.push({ span: named, text: JSON.stringify(publicName) });
  }
  put(patches, owner && { session: owner });
}

/** With several agents, an id that this one has not asked under may be another's: the client must not take that one for completed. */
export function completeElicitation(proxy: ProxyParts, agent: Agent, frame: Frame): void {
  const named = memberAt(frame.bytes, frame.body, 'elicitationId');
  const name = stringAt(frame.bytes, named);
  const publicName = name === undefined ? undefined : proxy.names.elicitations.publicName(agent, name);
  if (!named || publicName === undefined) {
    const isFree = name === undefined || proxy.names.elicitations.find(name) === undefined;
    return proxy.pool.single && isFree ? proxy.client.notify(frame) : void proxy.context.counters.refusedFromAgents++;
  }
  proxy.names.elicitations.release(publicName);
  proxy.client.notify(frame, publicName === name ? [] : [{ span: named, text: JSON.stringify(publicName) }]);
}

/** The agent takes a question back; the editor knows it by another id, and still answers it. */
export function withdraw(proxy: ProxyParts, agent: Agent, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const asked = span && proxy.client.findRequest(agent, textOf(frame.bytes, span));
  // One that we have answered already may have been followed by another of the same id, which waits.
  if (span && (!asked || asked.isAnswered) && proxy.context.enforcement?.takesBack(agent, textOf(frame.bytes, span))) return;
  if (span && asked) proxy.client.notify(frame, [{ span, text: asked.id }]);
  else if (!withdrawServed(agent, frame)) proxy.context.counters.strayAnswers++;
}

/** The agent is gone: nobody waits for the answers to its questions any more. */
export function withdrawAll(proxy: ProxyParts, agent: Agent): void {
  proxy.names.elicitations.releaseAll(agent);
  for (const asked of proxy.client.requestsOf(agent)) cancelRequest(proxy, asked);
}

export function answerFromClient(proxy: ProxyParts, frame: Frame): void {
  if (proxy.client.ownAnswer(idTextOf(frame), frame)) return;
  const asked = proxy.client.settle(idTextOf(frame));
  if (!asked) {
    proxy.context.counters.strayAnswers++;
    return;
  }
  if (asked.session) asked.session.isActive = true; // the agent's time begins anew
  if (asked.onAnswer?.(frame)) return;
  if (frame.outcome === 'unclear') asked.agent.fail(asked.idText, failure('ANSWER_UNCLEAR', ['the editor', asked.method]));
  else asked.agent.answer(frame, asked.idText);
}
