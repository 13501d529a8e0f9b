// fs/* and terminal/create: judged before they go on, refused with the rule's name, or asked about in the only way editors know.
import { failure } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import { detach } from '../../wire/frame.ts';
import type { AgentLeg } from '../agents/agent.ts';
import { createLane, type Lane, type Step } from '../sessions/frame-queue.ts';
import type { Session } from '../sessions/session.ts';
import { askEditor } from './ask-user.ts';
import { type Asking, idOf, paramsOf, surfaceOf, textOf } from './asking.ts';
import { type GuardDeps, judge, kept, type Matter, placeFor, record, recordLate, recordUnread, write } from './evaluate.ts';
import { surfaceOfMethod } from './file-actions.ts';
import type { Grants } from './grants.ts';

/** What waits behind a question to the user; more than an agent that waits for answers ever sends. */
const MAX_WAITING = 256;

type Queue = {
  readonly lane: Lane;
  readonly leg: AgentLeg;
  readonly life: number;
  /** Those that wait, by their ids. */
  readonly waiting: Map<string, { readonly step: Step; readonly method: string }>;
  isCancelled: boolean;
};

export type WaitingRequests = WeakMap<Session, Queue>;

export function fileOrTerminal(deps: GuardDeps, waiting: WaitingRequests, grants: Grants, asking: Asking): void {
  const { leg, session, frame, passOn } = asking;
  const idText = idOf(asking);
  const method = frame.method as string;
  const surface = surfaceOfMethod(method, paramsOf(asking));
  if (!surface) {
    recordUnread(deps, surfaceOf(asking), textOf(asking), 'it does not say in the way of the protocol what it is about');
    if (deps.isObserving) return void passOn(frame);
    return leg.fail(
      idText,
      failure('PARAMS', [method, 'a policy is in force, and this cannot be judged: paths must be absolute and without ".."']),
    );
  }
  const queue = session && queueOf(waiting, session, leg);
  // A write that waits for the user, and a read of the same file behind it: their order is the agent's.
  if (queue?.lane.isHeld) return wait(queue, asking, (waited) => fileOrTerminal(deps, waiting, grants, waited));
  const look = (request: Buffer | string) => judge(deps, surfaceOf(asking), request, surface.ask);
  const matter = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, matter, 'passed');
    return void passOn(frame);
  }
  const refuse = (why: string, { decision } = matter) =>
    leg.fail(idText, failure('POLICY_DENIED', [method, why], { rule: decision.rule?.id }));
  if (matter.verdict === 'allow' && record(deps, matter, 'passed')) return void passOn(frame, { judged: placeOf(method, matter) });
  if (matter.verdict === 'deny' || !session || !queue || queue.isCancelled) {
    record(deps, matter, 'refused', matter.by, 'deny');
    return refuse(queue?.isCancelled ? 'the turn was cancelled' : matter.decision.why);
  }
  // The user has been asked about this very thing, and has said yes.
  const answerIn = grants.take(matter, surface.use?.(placeFor(deps, matter), matter.asked));
  if (answerIn !== undefined && write(deps, matter, { option: 'passed', by: 'user', verdict: 'ask', answerIn }).isWritten)
    return void passOn(frame, { judged: placeOf(method, matter) });
  const waits = detach(frame);
  const asked = kept(matter);
  queue.lane.hold();
  askEditor(deps, asked, session, idText, surface.shown, (reply) => {
    // While the user thought, the policy may have changed, or what the path leads to.
    const now = reply === 'allowed' ? look(asked.request) : asked;
    const isSame = JSON.stringify(now.asked.paths) === JSON.stringify(asked.asked.paths);
    const late = now.verdict === 'deny' ? now.decision.why : isSame ? undefined : 'the path leads elsewhere by now';
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (late !== undefined) {
      recordLate(deps, now, late);
      refuse(late, now);
    } else passOn(waits, { judged: placeOf(method, asked) });
    // Whatever waits behind a cancelled question belongs to the same turn, and is not asked about any more.
    queue.isCancelled = reply === 'cancelled';
    queue.lane.release();
    queue.isCancelled = false;
  });
}

function wait(queue: Queue, asking: Asking, then: (asking: Asking) => void): void {
  const { leg, frame } = asking;
  const idText = idOf(asking);
  const key = canonicalId(idText);
  if (queue.waiting.has(key)) return leg.fail(idText, failure('ID_IN_USE', [idText]));
  if (queue.waiting.size >= MAX_WAITING)
    return leg.fail(idText, failure('TOO_MANY_OPEN', ['requests that wait for the user', MAX_WAITING]));
  const waits = { ...asking, frame: detach(frame) };
  const step: Step = {
    request: undefined,
    run() {
      queue.waiting.delete(key);
      if (leg.lives === queue.life) then(waits);
    },
  };
  queue.waiting.set(key, { step, method: frame.method as string });
  queue.lane.wait(step);
}

/** The agent takes a request back that has not been asked about yet. */
export function takeBack(waiting: WaitingRequests, leg: AgentLeg, idText: string): boolean {
  const key = canonicalId(idText);
  for (const session of leg.sessions.values()) {
    const queue = waiting.get(session);
    const found = queue?.leg === leg && queue.life === leg.lives ? queue.waiting.get(key) : undefined;
    if (!queue || !found) continue;
    queue.waiting.delete(key);
    queue.lane.remove(found.step);
    leg.fail(idText, failure('CANCELLED', [found.method]));
    return true;
  }
  return false;
}

/** Where the file really was when it was judged: whoever opens it is held to that. */
const placeOf = (method: string, { asked }: Matter): string | undefined => (method.startsWith('fs/') ? asked.paths[0]?.path : undefined);

/** A new life of the agent, and another agent, begin with nothing waiting. */
function queueOf(waiting: WaitingRequests, session: Session, leg: AgentLeg): Queue {
  const life = leg.lives;
  const found = waiting.get(session);
  if (found?.leg === leg && found.life === life) return found;
  const made: Queue = { lane: createLane(), leg, life, waiting: new Map(), isCancelled: false };
  waiting.set(session, made);
  return made;
}
