// fs/* and terminal/create: judged before they go on, refused with the rule's name, or asked about in the only way editors know.
import { failure } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import { detach } from '../../wire/frame.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import { createFrameQueue, type FrameQueue, type Step } from '../sessions/frame-queue.ts';
import type { Session } from '../sessions/session.ts';
import { requestPermission } from './ask-user.ts';
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
import type { Grants } from './grants.ts';

/** What waits behind a question to the user; more than an agent that waits for answers ever sends. */
const MAX_WAITING = 256;

type Queue = {
  readonly queue: FrameQueue;
  readonly agent: Agent;
  readonly connection: AgentConnection | undefined;
  /** Those that wait, by their ids. */
  readonly waiting: Map<string, { readonly step: Step; readonly method: string }>;
  isCancelled: boolean;
};

export type WaitingRequests = WeakMap<Session, Queue>;

export function fileOrTerminal(deps: EnforcementDeps, waiting: WaitingRequests, grants: Grants, asking: Asking): void {
  const { agent, session, frame, passOn } = asking;
  const idText = idOf(asking);
  const method = frame.method as string;
  const surface = surfaceOfMethod(method, paramsOf(asking));
  if (!surface) {
    recordUnread(deps, surfaceOf(asking), textOf(asking), 'it does not say in the way of the protocol what it is about');
    if (deps.isObserving) return void passOn(frame);
    return agent.fail(
      idText,
      failure('PARAMS', [method, 'a policy is in force, and this cannot be judged: paths must be absolute and without ".."']),
    );
  }
  const queue = session && queueOf(waiting, session, agent);
  // A write that waits for the user, and a read of the same file behind it: their order is the agent's.
  if (queue?.queue.isHeld) return wait(queue, asking, (waited) => fileOrTerminal(deps, waiting, grants, waited));
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
  // The user has been asked about this very thing, and has said yes.
  const answerIn = grants.take(action, surface.use?.(placeFor(deps, action), action.asked));
  if (answerIn !== undefined && write(deps, action, { option: 'passed', by: 'user', verdict: 'ask', answerIn }).isWritten)
    return void passOn(frame, { evaluatedPath: placeOf(method, action) });
  const waits = detach(frame);
  const asked = kept(action);
  queue.queue.hold();
  requestPermission(deps, asked, session, idText, surface.shown, (reply) => {
    // While the user thought, the policy may have changed, or what the path leads to.
    const now = reply === 'allowed' ? look(asked.request) : asked;
    const isSame = JSON.stringify(now.asked.paths) === JSON.stringify(asked.asked.paths);
    const late = now.verdict === 'deny' ? now.decision.why : isSame ? undefined : 'the path changed after the policy checked it';
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (late !== undefined) {
      recordLate(deps, now, late);
      refuse(late, now);
    } else passOn(waits, { evaluatedPath: placeOf(method, asked) });
    // Whatever waits behind a cancelled question belongs to the same turn, and is not asked about any more.
    queue.isCancelled = reply === 'cancelled';
    queue.queue.release();
    queue.isCancelled = false;
  });
}

function wait(queue: Queue, asking: Asking, then: (asking: Asking) => void): void {
  const { agent, frame } = asking;
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
      if (agent.connection === queue.connection) then(waits);
    },
  };
  queue.waiting.set(key, { step, method: frame.method as string });
  queue.queue.wait(step);
}

/** The agent takes a request back that has not been asked about yet. */
export function cancelRequest(waiting: WaitingRequests, agent: Agent, idText: string): boolean {
  const key = canonicalId(idText);
  for (const session of agent.sessions.values()) {
    const queue = waiting.get(session);
    const found = queue?.agent === agent && queue.connection === agent.connection ? queue.waiting.get(key) : undefined;
    if (!queue || !found) continue;
    queue.waiting.delete(key);
    queue.queue.remove(found.step);
    agent.fail(idText, failure('CANCELLED', [found.method]));
    return true;
  }
  return false;
}

/** Where the file really was when it was judged: whoever opens it is held to that. */
const placeOf = (method: string, { asked }: PendingAction): string | undefined =>
  method.startsWith('fs/') ? asked.paths[0]?.path : undefined;

/** A new life of the agent, and another agent, begin with nothing waiting. */
function queueOf(waiting: WaitingRequests, session: Session, agent: Agent): Queue {
  const { connection } = agent;
  const found = waiting.get(session);
  if (found?.agent === agent && found.connection === connection) return found;
  const made: Queue = { queue: createFrameQueue(), agent, connection, waiting: new Map(), isCancelled: false };
  waiting.set(session, made);
  return made;
}
