// fs/* and terminal/create: judged before they go on, refused with the rule's name, or asked about in the only way editors know.
import { failure } from '../../errors.ts';
import { detach } from '../../wire/frame.ts';
import type { AgentLeg } from '../agent-leg.ts';
import { createLane, type Lane } from '../lane.ts';
import type { Session } from '../session.ts';
import { askEditor } from './ask-editor.ts';
import { type Asking, idOf, paramsOf, surfaceOf, textOf } from './asking.ts';
import { type GuardDeps, judge, kept, type Matter, record, recordUnread } from './judge.ts';
import { surfaceOfMethod } from './surfaces.ts';

/** What waits behind a question to the user; more than an agent that waits for answers ever sends. */
const MAX_WAITING = 256;

type Queue = { readonly lane: Lane; readonly leg: AgentLeg; readonly life: number; count: number; isCancelled: boolean };

export type WaitingRequests = WeakMap<Session, Queue>;

export function fileOrTerminal(deps: GuardDeps, waiting: WaitingRequests, asking: Asking): void {
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
  if (queue?.lane.isHeld) return wait(deps, waiting, asking, queue);
  const look = (request: Buffer | string) => judge(deps, surfaceOf(asking), request, surface.ask);
  const matter = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, matter, 'passed');
    return void passOn(frame);
  }
  const refuse = (why: string) => leg.fail(idText, failure('POLICY_DENIED', [method, why], { rule: matter.decision.rule?.id }));
  if (matter.verdict === 'allow' && record(deps, matter, 'passed')) return void passOn(frame, { judged: placeOf(method, matter) });
  if (matter.verdict === 'deny' || !session || !queue || queue.isCancelled) {
    record(deps, matter, 'refused', matter.by, 'deny');
    return refuse(queue?.isCancelled ? 'the turn was cancelled' : matter.decision.why);
  }
  const waits = detach(frame);
  const asked = kept(matter);
  queue.lane.hold();
  askEditor(deps, asked, session, idText, surface.shown, (reply) => {
    // While the user thought, the policy may have changed, or what the path leads to.
    const now = reply === 'allowed' ? look(asked.request) : asked;
    const isSame = JSON.stringify(now.asked.paths) === JSON.stringify(asked.asked.paths);
    if (reply !== 'allowed') refuse(reply === 'cancelled' ? 'the turn was cancelled' : 'the user refused it');
    else if (now.verdict === 'deny') refuse(now.decision.why);
    else if (!isSame) refuse('the path leads elsewhere by now');
    else passOn(waits, { judged: placeOf(method, asked) });
    // Whatever waits behind a cancelled question belongs to the same turn, and is not asked about any more.
    queue.isCancelled = reply === 'cancelled';
    queue.lane.release();
    queue.isCancelled = false;
  });
}

function wait(deps: GuardDeps, waiting: WaitingRequests, asking: Asking, queue: Queue): void {
  const { leg } = asking;
  if (queue.count >= MAX_WAITING) return leg.fail(idOf(asking), failure('TOO_MANY_OPEN', ['requests that wait for the user', MAX_WAITING]));
  const waits = { ...asking, frame: detach(asking.frame) };
  queue.count++;
  queue.lane.wait({
    request: undefined,
    run() {
      queue.count--;
      if (leg.lives === queue.life) fileOrTerminal(deps, waiting, waits);
    },
  });
}

/** Where the file really was when it was judged: whoever opens it is held to that. */
const placeOf = (method: string, { asked }: Matter): string | undefined => (method.startsWith('fs/') ? asked.paths[0]?.path : undefined);

/** A new life of the agent, and another agent, begin with nothing waiting. */
function queueOf(waiting: WaitingRequests, session: Session, leg: AgentLeg): Queue {
  const life = leg.lives;
  const found = waiting.get(session);
  if (found?.leg === leg && found.life === life) return found;
  const made = { lane: createLane(), leg, life, count: 0, isCancelled: false };
  waiting.set(session, made);
  return made;
}
