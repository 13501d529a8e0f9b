// fs/* and terminal/create: evaluated before they pass, refused with the rule's name, or put to the user as a permission request.
import { failure } from '../../../errors.ts';
import { canonicalId } from '../../../router/request-ledger.ts';
import { detach } from '../../../wire/frame.ts';
import type { Agent } from '../../agents/agent.ts';
import type { AgentConnection } from '../../agents/agent-connection.ts';
import type { Session } from '../../sessions/session.ts';
import { requestPermission } from '../ask-user.ts';
import { stateOf } from '../enforcement-state.ts';
import {
  type Asking,
  type EnforcementDeps,
  evaluate,
  idOf,
  kept,
  type PendingAction,
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

export function fileOrTerminal(deps: EnforcementDeps, asking: Asking): void {
  const { agent, session, frame, passOn } = asking;
  const idText = idOf(asking);
  const method = frame.method as string;
  const surface = surfaceOfMethod(method, paramsOf(asking));
  if (!surface) {
    recordUnread(deps, surfaceOf(asking), textOf(asking), 'its params do not follow the protocol');
    if (deps.isObserving) return void passOn(frame);
    return agent.fail(idText, failure('PARAMS', [method, 'the policy cannot evaluate it: paths must be absolute and without ".."']));
  }
  const queue = session && queueOf(session, agent);
  // A read behind a write that waits for the user must see the write: keep the agent's order.
  if (queue?.isAsking) return wait(queue, asking, (waited) => fileOrTerminal(deps, waited));
  const look = (request: Buffer | string) => evaluate(deps, surfaceOf(asking), request, surface.ask);
  let action = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return void passOn(frame);
  }
  const refuse = (why: string, { decision } = action) =>
    agent.fail(idText, failure('POLICY_DENIED', [method, why], { rule: decision.rule?.id }));
  const decided = (isAllowed: boolean) => session && stateOf(session).decided.note(session, action.asked, isAllowed);
  if (action.verdict === 'allow') {
    if (record(deps, action, 'passed')) {
      decided(true);
      return void passOn(frame, { evaluatedPath: placeOf(method, action) });
    }
    action = look(textOf(asking)); // the policy may deny what cannot be recorded
  }
  if (action.verdict === 'deny' || !session || !queue || queue.isCancelled) {
    record(deps, action, 'refused', action.by, 'deny');
    decided(false);
    if (!queue?.isCancelled) reportRefusal(deps, action, { shown: surface.shown });
    return refuse(queue?.isCancelled ? 'the turn was cancelled' : action.decision.why);
  }
  // The user has consented to exactly this.
  const consent = stateOf(session).grants.take(action, surface.use?.(placeFor(deps, action), action.asked));
  if (consent && write(deps, action, { option: 'passed', by: consent.by, verdict: 'ask', answerIn: consent.seq }).isWritten) {
    decided(true);
    return void passOn(frame, { evaluatedPath: placeOf(method, action) });
  }
  const waits = detach(frame);
  const asked = kept(action);
  queue.isAsking = true;
  requestPermission(deps, asked, session, idText, surface.shown, (reply) => {
    // The policy may have changed meanwhile, or the target of the path.
    const now = reply === 'allowed' ? look(asked.request) : asked;
    const isSame = JSON.stringify(now.asked.paths) === JSON.stringify(asked.asked.paths);
    const late = now.verdict === 'deny' ? now.decision.why : isSame ? undefined : 'the path changed after the policy checked it';
    decided(reply === 'allowed' && late === undefined);
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (late !== undefined) {
      recordLate(deps, now, late);
      reportRefusal(deps, { ...now, decision: { ...now.decision, why: late } }, { shown: surface.shown });
      refuse(late, now);
    } else passOn(waits, { evaluatedPath: placeOf(method, asked) });
    // Requests behind a cancelled one belong to the same turn: the user is not asked about them.
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

function wait(queue: WaitingRequests, asking: Asking, then: (asking: Asking) => void): void {
  const { agent, frame, session } = asking;
  const idText = idOf(asking);
  const key = canonicalId(idText);
  if (queue.waiting.has(key)) return agent.fail(idText, failure('ID_IN_USE', [idText]));
  if (queue.waiting.size >= MAX_WAITING)
    return agent.fail(idText, failure('TOO_MANY_OPEN', ['requests that wait for the user', MAX_WAITING]));
  const waits = { ...asking, frame: detach(frame) };
  queue.waiting.set(key, {
    method: frame.method as string,
    run() {
      // A session that the agent named early may have been opened meanwhile.
      if (agent.connection === queue.connection) then({ ...waits, session: session && (agent.sessions.get(session.nativeId) ?? session) });
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
const placeOf = (method: string, { asked }: PendingAction): string | undefined =>
  method.startsWith('fs/') ? asked.paths[0]?.path : undefined;

/** A new connection of the agent, and another agent, start with an empty queue. */
function queueOf(session: Session, agent: Agent): WaitingRequests {
  const { connection } = agent;
  const state = stateOf(session);
  if (state.waiting?.agent !== agent || state.waiting.connection !== connection)
    state.waiting = { agent, connection, isAsking: false, waiting: new Map(), isCancelled: false };
  return state.waiting;
}
