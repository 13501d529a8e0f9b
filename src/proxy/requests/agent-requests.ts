// Requests of agents that the editor answers: put to it, taken back, answered.
import type { Key } from '../../acp/methods.ts';
import { failure } from '../../errors.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { NewQuestion, Question } from '../client/client-connection.ts';
import type { PassOn } from '../enforcement/enforcement.ts';
import type { Hub } from '../hub.ts';
import { namedTwice } from '../named-twice.ts';
import { type Session, toPublic } from '../sessions/session.ts';
import { takenByUs } from '../tools/acp-messages.ts';
import { asDelegated } from '../tools/delegation-view.ts';
import { takeBack } from '../turns/cancel.ts';
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
  more?: Partial<Pick<Question, 'onSettled' | 'session'>> & {
    /** With the session that it is asked in by then: it may have been asked before that was open. */
    readonly onAnswer?: (answer: Frame, session: Session | undefined) => boolean;
  },
) => void;

/** To the editor, or to our own workspace in its place, unless it is for our own server or a policy settles it first. */
export function putQuestion(hub: Hub, leg: AgentLeg, session: Session | undefined, frame: Frame, key: Key): void {
  const idText = idTextOf(frame);
  const before = hub.editor.findQuestion(leg, idText);
  if (before && !before.isAnswered) return leg.fail(idText, failure('ID_IN_USE', [idText]));
  const twice = namedTwice(hub, frame);
  if (twice !== undefined) return leg.fail(idText, failure('AMBIGUOUS', [twice]));
  if (hub.lending && takenByUs(hub, leg, frame)) return;
  if (hub.guard) hub.guard.question(hub, leg, session, frame, (mine, more) => passOn(hub, leg, openBy(leg, session), mine, key, more));
  else passOn(hub, leg, session, frame, key);
}

/** A session that the agent spoke of may have been opened while the policy's own request about it waited. */
function openBy(leg: AgentLeg, session: Session | undefined): Session | undefined {
  return session && (leg.sessions.get(session.nativeId) ?? session);
}

function passOn(
  hub: Hub,
  leg: AgentLeg,
  session: Session | undefined,
  frame: Frame,
  key: Key,
  guard?: Parameters<PassOn>[1],
): Question | undefined {
  if (isServed(hub, frame.method)) {
    serveWorkspace(hub, leg, session, frame, guard?.judged);
    return undefined;
  }
  const idText = idTextOf(frame);
  let question: Question | undefined;
  const put: Put = (patches, more) => {
    const { onAnswer } = more ?? {};
    const asked: NewQuestion = {
      idText,
      method: frame.method as string,
      leg,
      session: more?.session ?? session,
      onAnswer: guard?.onAnswer ?? (onAnswer && ((answer) => onAnswer(answer, question?.session))),
      onCancel: guard?.onCancel,
      onSettled: guard?.onSettled ?? more?.onSettled,
      judged: guard?.about,
    };
    const ofErrand = session?.delegation ? asDelegated(session, frame) : [];
    question = hub.editor.ask(frame, asked, [...toPublic(session, frame), ...ofErrand, ...(guard?.patches ?? []), ...patches]);
  };
  toClient(hub, leg, session, frame, key, put);
  return question;
}

/** What is named by `key` may be another agent's; the rest goes by what we count of it. */
function toClient(hub: Hub, leg: AgentLeg, session: Session | undefined, frame: Frame, key: Key, put: Put): void {
  if (key === 'terminalId') return terminal(hub, leg, session, frame, put);
  if (key === 'serverId') return mcpMessage(hub, leg, frame, put);
  const idText = idTextOf(frame);
  const most = Math.min(MAX_PERMISSIONS, hub.guard?.maxPendingPermissions() ?? MAX_PERMISSIONS);
  switch (frame.method) {
    case 'session/request_permission':
      if (session && openQuestions(session, 'session/request_permission') >= most)
        return leg.fail(idText, failure('TOO_MANY_OPEN', ['permission questions', most]));
      return put([]);
    case 'terminal/create':
      if (session && session.terminals.size + openQuestions(session, 'terminal/create') >= MAX_TERMINALS)
        return leg.fail(idText, failure('TOO_MANY_OPEN', ['terminals', MAX_TERMINALS]));
      return put([], { onAnswer: (answer, askedIn) => noteTerminal(hub, leg, askedIn, answer) });
    case ELICITATION:
      return elicitation(hub, leg, session, frame, put);
    default:
      return put([]);
  }
}

function openQuestions(session: Session, method: string): number {
  let count = 0;
  for (const asked of session.questions) if (asked.method === method) count++;
  return count;
}

/** An agent may also want to know something before there is a session. */
function sessionless(hub: Hub, leg: AgentLeg): number {
  return hub.editor.questionsOf(leg).filter((asked) => asked.session === undefined && asked.method === ELICITATION).length;
}

function noteTerminal(hub: Hub, leg: AgentLeg, session: Session | undefined, answer: Frame): boolean {
  const terminalId = answer.outcome === 'result' ? stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'terminalId')) : undefined;
  if (terminalId === undefined) return false;
  hub.terminals.set(terminalId, { leg, sessionId: session?.publicId });
  session?.terminals.add(terminalId);
  return false;
}

/** The editor tells terminals apart by id alone: without this, one agent could read another's. */
function terminal(hub: Hub, leg: AgentLeg, session: Session | undefined, frame: Frame, put: Put): void {
  const terminalId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'terminalId')) ?? '';
  const owner = hub.terminals.get(terminalId);
  // With one agent, an id that we have not seen made is the editor's to judge.
  const isOwn = owner ? owner.leg === leg && owner.sessionId === session?.publicId : hub.alone !== undefined;
  if (!isOwn) return leg.fail(idTextOf(frame), failure('TERMINAL_FOREIGN', [terminalId]));
  if (frame.method === 'terminal/release') {
    hub.terminals.delete(terminalId);
    session?.terminals.delete(terminalId);
  }
  put([]);
}

/** May speak of a request of the editor's, by the id the agent saw, and brings an id of its own that another agent may use too. */
function elicitation(hub: Hub, leg: AgentLeg, session: Session | undefined, frame: Frame, put: Put): void {
  const { bytes, body } = frame;
  const patches: Patch[] = [];
  const about = memberAt(bytes, body, 'requestId');
  const request = about && leg.findCall(textOf(bytes, about))?.request;
  if (about) {
    // About a request of ours, or none at all: nobody is there to be asked.
    if (!request) return leg.succeed(idTextOf(frame), '{"action":"cancel"}');
    patches.push({ span: about, text: request.idText });
  }
  // The session of a prompt that was closed in mid-turn is gone, and the id may be open again.
  const owner = session ?? request?.session;
  if ((owner ? openQuestions(owner, ELICITATION) : sessionless(hub, leg)) >= MAX_ELICITATIONS)
    return leg.fail(idTextOf(frame), failure('TOO_MANY_OPEN', ['elicitations', MAX_ELICITATIONS, owner ? undefined : 'before a session']));
  const named = memberAt(bytes, body, 'elicitationId');
  const name = stringAt(bytes, named);
  if (named && name !== undefined) {
    const publicName = hub.elicitations.claim(leg, name);
    if (publicName !== name) patches.push({ span: named, text: JSON.stringify(publicName) });
  }
  put(patches, owner && { session: owner });
}

/** With several agents, an id that this one has not asked under may be another's: the client must not take that one for completed. */
export function completeElicitation(hub: Hub, leg: AgentLeg, frame: Frame): void {
  const named = memberAt(frame.bytes, frame.body, 'elicitationId');
  const name = stringAt(frame.bytes, named);
  const publicName = name === undefined ? undefined : hub.elicitations.publicName(leg, name);
  if (!named || publicName === undefined) {
    const isFree = name === undefined || hub.elicitations.find(name) === undefined;
    return hub.alone && isFree ? hub.editor.notify(frame) : void hub.counters.refusedFromAgents++;
  }
  hub.elicitations.release(publicName);
  hub.editor.notify(frame, publicName === name ? [] : [{ span: named, text: JSON.stringify(publicName) }]);
}

/** The agent takes a question back; the editor knows it by another id, and still answers it. */
export function withdraw(hub: Hub, leg: AgentLeg, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const asked = span && hub.editor.findQuestion(leg, textOf(frame.bytes, span));
  // One that we have answered already may have been followed by another of the same id, which waits.
  if (span && (!asked || asked.isAnswered) && hub.guard?.takesBack(leg, textOf(frame.bytes, span))) return;
  if (span && asked) hub.editor.notify(frame, [{ span, text: asked.id }]);
  else if (!withdrawServed(leg, frame)) hub.counters.strayAnswers++;
}

/** The agent is gone: nobody waits for the answers to its questions any more. */
export function withdrawAll(hub: Hub, leg: AgentLeg): void {
  hub.elicitations.releaseAll(leg);
  for (const asked of hub.editor.questionsOf(leg)) takeBack(hub, asked);
}

export function answerFromEditor(hub: Hub, frame: Frame): void {
  if (hub.editor.ownAnswer(idTextOf(frame), frame)) return;
  const asked = hub.editor.settle(idTextOf(frame));
  if (!asked) {
    hub.counters.strayAnswers++;
    return;
  }
  if (asked.session) asked.session.isHeard = true; // the agent's time begins anew
  if (asked.onAnswer?.(frame)) return;
  if (frame.outcome === 'unclear') asked.leg.fail(asked.idText, failure('ANSWER_UNCLEAR', ['the editor', asked.method]));
  else asked.leg.answer(frame, asked.idText);
}
