// fs/* and terminal/create: evaluated before they pass, refused with the rule's name, or put to the user as a permission request.
import { failure } from '../../../errors.ts';
import { canonicalId } from '../../../router/pending-ids.ts';
import { detach } from '../../../wire/frame.ts';
import type { Agent } from '../../agents/agent.ts';
import type { AgentConnection } from '../../agents/agent-connection.ts';
import type { Session } from '../../sessions/session.ts';
import { requestPermission } from '../ask-user.ts';
import { stateOf } from '../enforcement-state.ts';
import {
  detached,
  type EnforcementDeps,
  type Evaluation,
  evaluate,
  type IncomingRequest,
  idOf,
  paramsOf,
  placeFor,
  record,
  recordLate,
  recordUnread,
  surfaceOf,
  textOf,
  write,
} from '../evaluate.ts';
import { reportRefusal } from '../reports.ts';
import { surfaceOfMethod } from './file-actions.ts';

/** Requests behind one that waits for the user; more than an agent that waits for answers ever sends. */
const MAX_WAITING = 256;

export type WaitingRequests = {
  readonly agent: Agent;
  readonly connection: AgentConnection | undefined;
  /** The user is asked about a request, and those behind it wait. */
  isAsking: boolean;
  /** By the agent's ids, in order. */
  readonly waiting: Map<string, { readonly method: string; readonly run: () => void }>;
  isCancelled: boolean;
};

export function fileOrTerminal(deps: EnforcementDeps, incoming: IncomingRequest): void {
  const { agent, session, frame, passOn } = incoming;
  const idText = idOf(incoming);
  const method = frame.method as string;
  const surface = surfaceOfMethod(method, paramsOf(incoming));
  if (!surface) {
    recordUnread(deps, surfaceOf(incoming), textOf(incoming), 'its params do not follow the protocol');
    if (deps.isObserving) return void passOn(frame);
    return agent.fail(idText, failure('PARAMS', [method, 'the policy cannot evaluate it: paths must be absolute and without ".."']));
  }
  const queue = session && queueOf(session, agent);
  // A read behind a write that waits for the user must see the write: keep the agent's order.
  if (queue?.isAsking) return wait(queue, incoming, (waited) => fileOrTerminal(deps, waited));
  const evaluateNow = (request: Buffer | string) => evaluate(deps, surfaceOf(incoming), request, surface.ask);
  let evaluation = evaluateNow(textOf(incoming));
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    return void passOn(frame);
  }
  const refuse = (why: string, { decision } = evaluation) =>
    agent.fail(idText, failure('POLICY_DENIED', [method, why], { rule: decision.rule?.id }));
  const decided = (isAllowed: boolean) => session && stateOf(session).decided.note(session, evaluation.action, isAllowed);
  if (evaluation.verdict === 'allow') {
    if (record(deps, evaluation, 'passed')) {
      decided(true);
      return void passOn(frame, { evaluatedPath: placeOf(method, evaluation) });
    }
    evaluation = evaluateNow(textOf(incoming)); // the policy may deny what cannot be recorded
  }
  if (evaluation.verdict === 'deny' || !session || !queue || queue.isCancelled) {
    record(deps, evaluation, 'refused', evaluation.by, 'deny');
    decided(false);
    if (!queue?.isCancelled) reportRefusal(deps, evaluation, { shown: surface.shown });
    return refuse(queue?.isCancelled ? 'the turn was cancelled' : evaluation.decision.why);
  }
  // The user has consented to exactly this.
  const consent = stateOf(session).grants.take(evaluation, surface.use?.(placeFor(deps, evaluation), evaluation.action));
  if (consent && write(deps, evaluation, { option: 'passed', by: consent.by, verdict: 'ask', answerIn: consent.seq }).isWritten) {
    decided(true);
    return void passOn(frame, { evaluatedPath: placeOf(method, evaluation) });
  }
  const waitingFrame = detach(frame);
  const waiting = detached(evaluation);
  queue.isAsking = true;
  requestPermission(deps, waiting, { session, idText, shown: surface.shown }, (reply) => {
    // The policy may have changed meanwhile, or the target of the path.
    const now = reply === 'allowed' ? evaluateNow(waiting.request) : waiting;
    const isSame = JSON.stringify(now.action.paths) === JSON.stringify(waiting.action.paths);
    const late = now.verdict === 'deny' ? now.decision.why : isSame ? undefined : 'the path changed after the policy checked it';
    decided(reply === 'allowed' && late === undefined);
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (late !== undefined) {
      recordLate(deps, now, late);
      reportRefusal(deps, { ...now, decision: { ...now.decision, why: late } }, { shown: surface.shown });
      refuse(late, now);
    } else passOn(waitingFrame, { evaluatedPath: placeOf(method, waiting) });
    // Requests after a cancelled one belong to the same turn: the user is not asked about them.
    queue.isCancelled = reply === 'cancelled';
    resume(queue);
    queue.isCancelled = false;
  });
}

/** Runs the waiting requests in order, until the user is asked about one of them. */
function resume(queue: WaitingRequests): void {
  queue.isAsking = false;
  for (const [key, { run }] of queue.waiting) {
    if (queue.isAsking) return;
    queue.waiting.delete(key);
    run();
  }
}

function wait(queue: WaitingRequests, incoming: IncomingRequest, then: (incoming: IncomingRequest) => void): void {
  const { agent, frame, session } = incoming;
  const idText = idOf(incoming);
  const key = canonicalId(idText);
  if (queue.waiting.has(key)) return agent.fail(idText, failure('ID_IN_USE', [idText]));
  if (queue.waiting.size >= MAX_WAITING)
    return agent.fail(idText, failure('TOO_MANY_OPEN', ['requests that wait for the user', MAX_WAITING]));
  const kept = { ...incoming, frame: detach(frame) };
  queue.waiting.set(key, {
    method: frame.method as string,
    run() {
      // A session that the agent named early may have been opened meanwhile.
      if (agent.connection === queue.connection) then({ ...kept, session: session && (agent.sessions.get(session.nativeId) ?? session) });
    },
  });
}

/** The agent withdraws a request that the user has not been asked about yet. */
export function withdrawWaiting(agent: Agent, idText: string): boolean {
  const key = canonicalId(idText);
  for (const session of agent.sessions.values()) {
    const queue = session.enforcement?.waiting;
    const found = queue?.agent === agent && queue.connection === agent.connection ? queue.waiting.get(key) : undefined;
    if (!queue || !found) continue;
    queue.waiting.delete(key);
    agent.fail(idText, failure('CANCELLED', [found.method]));
    return true;
  }
  return false;
}

export function takeOverWaiting({ enforcement }: Session, session: Session): void {
  if (enforcement?.waiting) stateOf(session).waiting = enforcement.waiting;
}

/** The real path of the file when it was evaluated: only that file may be opened. */
const placeOf = (method: string, { action }: Evaluation): string | undefined =>
  method.startsWith('fs/') ? action.paths[0]?.path : undefined;

/** A new connection of the agent, and another agent, start with an empty queue. */
function queueOf(session: Session, agent: Agent): WaitingRequests {
  const { connection } = agent;
  const state = stateOf(session);
  if (state.waiting?.agent !== agent || state.waiting.connection !== connection)
    state.waiting = { agent, connection, isAsking: false, waiting: new Map(), isCancelled: false };
  return state.waiting;
}
