// fs/* and terminal/create: evaluated before they pass, refused with the rule's name, or put to the user as a permission request.
import { failure } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import { detach } from '../../wire/frame.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import { createFrameQueue, type FrameQueue, type Step } from '../sessions/frame-queue.ts';
import type { Session } from '../sessions/session.ts';
import { requestPermission } from './ask-user.ts';
import { stateOf } from './enforcement-state.ts';
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
} from './evaluate.ts';
import { surfaceOfMethod } from './file-actions.ts';

/** Requests behind one that waits for the user; more than an agent that waits for answers ever sends. */
const MAX_WAITING = 256;

export type WaitingRequests = {
  readonly queue: FrameQueue;
  readonly agent: Agent;
  readonly connection: AgentConnection | undefined;
  /** By the agent's ids. */
  readonly waiting: Map<string, { readonly step: Step; readonly method: string }>;
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
  if (queue?.queue.isHeld) return wait(queue, asking, (waited) => fileOrTerminal(deps, waited));
  const look = (request: Buffer | string) => evaluate(deps, surfaceOf(asking), request, surface.ask);
  const action = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return void passOn(frame);
  }
  const refuse = (why: string, { decision } = action) =>
    agent.fail(idText, failure('POLICY_DENIED', [method, why], { rule: decision.rule?.id }));
  if (action.verdict === 'allow' && record(deps, action, 'passed')) return void passOn(frame, { evaluatedPath: placeOf(method, action) });
  if (action.verdict === 'deny' || !session || !queue || queue.isCancelled) {
    record(deps, action, 'refused', action.by, 'deny');
    return refuse(queue?.isCancelled ? 'the turn was cancelled' : action.decision.why);
  }
  // The user has consented to exactly this.
  const answerIn = stateOf(session).grants.take(action, surface.use?.(placeFor(deps, action), action.asked));
  if (answerIn !== undefined && write(deps, action, { option: 'passed', by: 'user', verdict: 'ask', answerIn }).isWritten)
    return void passOn(frame, { evaluatedPath: placeOf(method, action) });
  const waits = detach(frame);
  const asked = kept(action);
  queue.queue.hold();
  requestPermission(deps, asked, session, idText, surface.shown, (reply) => {
    // The policy may have changed meanwhile, or the target of the path.
    const now = reply === 'allowed' ? look(asked.request) : asked;
    const isSame = JSON.stringify(now.asked.paths) === JSON.stringify(asked.asked.paths);
    const late = now.verdict === 'deny' ? now.decision.why : isSame ? undefined : 'the path changed after the policy checked it';
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (late !== undefined) {
      recordLate(deps, now, late);
      refuse(late, now);
    } else passOn(waits, { evaluatedPath: placeOf(method, asked) });
    // Requests behind a cancelled one belong to the same turn: the user is not asked about them.
    queue.isCancelled = reply === 'cancelled';
    queue.queue.release();
    queue.isCancelled = false;
  });
}

function wait(queue: WaitingRequests, asking: Asking, then: (asking: Asking) => void): void {
  const { agent, frame, session } = asking;
  const idText = idOf(asking);
  const key = canonicalId(idText);
  if (queue.waiting.has(key)) return agent.fail(idText, failure('ID_IN_USE', [idText]));
  if (queue.waiting.size >= MAX_WAITING)
    return agent.fail(idText, failure('TOO_MANY_OPEN', ['requests that wait for the user', MAX_WAITING]));
  const waits = { ...asking, frame: detach(frame) };
  const step: Step = {
    request: undefined,
    run() {
      queue.waiting.delete(key);
      // A session that the agent named early may have been opened meanwhile.
      if (agent.connection === queue.connection) then({ ...waits, session: session && (agent.sessions.get(session.nativeId) ?? session) });
    },
  };
  queue.waiting.set(key, { step, method: frame.method as string });
  queue.queue.wait(step);
}

/** The agent withdraws a request that the user has not been asked about yet. */
export function withdrawWaiting(agent: Agent, idText: string): boolean {
  const key = canonicalId(idText);
  for (const session of agent.sessions.values()) {
    const queue = session.enforcement?.waiting;
    const found = queue?.agent === agent && queue.connection === agent.connection ? queue.waiting.get(key) : undefined;
    if (!queue || !found) continue;
    queue.waiting.delete(key);
    queue.queue.remove(found.step);
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
    state.waiting = { queue: createFrameQueue(), agent, connection, waiting: new Map(), isCancelled: false };
  return state.waiting;
}
