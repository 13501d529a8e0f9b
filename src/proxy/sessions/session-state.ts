// The states of a session, every transition between them, and which frames from the client a state admits. A transition takes only the
// states it may start from, so an illegal one does not compile. An operation (load, recovery, change of agent, close) is a ticket: the
// state holds its object as long as it may still finish. Once the state no longer holds it, the operation is late and must clean up after
// itself.
import type { ProxyError } from '../../errors.ts';
import type { Roots } from '../../workspace/roots.ts';

/** The agent named it; no client has. */
type Discovered = { readonly kind: 'discovered' };
/** It was not opened through this connection; frames pass to its agent. */
type Known = { readonly kind: 'known' };
/** What it takes to open the session again: at another agent, or at its own one after a crash. */
export type OpenedWith = {
  readonly openParams: string | undefined;
  /** The directories that files and terminals served by us may reach; undefined when we serve none. */
  readonly roots: Roots | undefined;
  /** It has begun (a prompt, or a history that we do not know): the session cannot move to another agent. */
  readonly agentLocked: boolean;
};
export type Open = { readonly kind: 'open' } & OpenedWith;
/** Its agent has died. The next request recovers it. */
type Lost = {
  readonly kind: 'lost';
  readonly openParams: string;
  readonly wasInTurn: boolean;
  /** Attempts to recover it that another one replaced, and whose replay may still be coming. */
  readonly replaying: readonly Recovery[];
} & OpenedWith;
/** Replayed from our transcript. Its agent does not know it, so it can be read and not continued. */
type Transcript = { readonly kind: 'transcript' };
type Closed = { readonly kind: 'closed' };

type Resting = Discovered | Known | Open | Lost | Transcript;

/**
 * `replay` says what becomes of the updates that come before the agent's answer: a client that asked for a load is shown them, one that
 * asked for a resume is not. Undefined before the request has left and once the replay is over.
 */
type Loading = {
  readonly kind: 'loading';
  readonly op: Load;
  readonly from: Exclude<Resting, Discovered> | Recovering;
  readonly replay: 'shown' | 'withheld' | undefined;
  /** Of the load under way; they hold at once, since the agent may ask for files before it answers. */
  readonly roots: Roots | undefined;
  /** Its agent has opened it for a request that does not want it. If the load fails, nobody has it. */
  readonly isUnwanted: boolean;
};
type Recovering = {
  readonly kind: 'recovering';
  readonly op: Recovery;
  readonly from: Lost;
  /** The agent replays the session, and nobody asked to see it. */
  readonly withholdsReplay: boolean;
  /**
   * `awaited`: a request waits for this attempt. `unawaited`: the request gave up, and the next one waits for the same attempt. `overdue`:
   * the next one begins another. The answer counts in any case.
   */
  readonly wait: 'awaited' | 'unawaited' | 'overdue';
};
type Changing = { readonly kind: 'changing'; readonly op: Change; readonly from: Open | Lost | Recovering };
/** `from` is closed when a load of a session that only the load knew of has failed meanwhile. */
type Closing = { readonly kind: 'closing'; readonly op: Close; readonly from: Resting | Loading | Recovering | Closed };

type Live = Resting | Loading | Recovering | Changing | Closing;
export type SessionState = Live | Closed;

export type Load = {
  readonly operation: 'load';
  /** Answers its request as cancelled. */
  abandon(): void;
};
export type Recovery = {
  readonly operation: 'recovery';
  /** The agent sent something about the session: it is at work. */
  noteActivity(): void;
  /** Calls back when the attempt is over, with the reason if it failed. One request waits at a time. */
  join(done: (error: ProxyError | undefined) => void): void;
};
export type Change = {
  readonly operation: 'change';
  /** Answers its request as cancelled; the session stays with its agent, or is closed there. */
  abandon(): void;
};
export type Close = { readonly operation: 'close' };
type Operation = Load | Recovery | Change | Close;

/** The state that holds an operation, and the states it may settle in. */
type Held = { load: Loading; recovery: Recovering; change: Changing; close: Closing };
type Settled = {
  load: Loading['from'] | Discovered | Loading | Closed;
  recovery: Open | Lost | Recovering;
  change: Changing['from'];
  close: Closing['from'];
};

export const DISCOVERED: Discovered = { kind: 'discovered' };
export const KNOWN: Known = { kind: 'known' };
const TRANSCRIPT: Transcript = { kind: 'transcript' };
const CLOSED: Closed = { kind: 'closed' };

const named = (_: Discovered): Known => KNOWN;
/** A client has named it, even if the agent named it first. */
export const namedByClient = (state: Live): Live => (state.kind === 'discovered' ? named(state) : state);

/** The agent answered `session/new` or `session/fork` with this id, whatever we knew of it before; operations under way go on. */
export const opened = (state: Live, by: OpenedWith): SessionState => rebased(state, () => ({ kind: 'open', ...by }));

/** The first prompt: from now on the session belongs to its agent. */
export const lockAgent = (state: Open): Open => ({ ...state, agentLocked: true });

/** The agent's connection has ended. Operations under way keep their tickets; their calls fail next. */
export function lose(state: Live, isInTurn: boolean): SessionState {
  return rebased(state, (resting) => {
    if (resting.kind === 'lost') return { ...resting, wasInTurn: resting.wasInTurn || isInTurn, replaying: [] };
    if (resting.kind !== 'open') return resting;
    const { openParams, roots, agentLocked } = resting;
    // Without the params nobody can open it again; the agent may still know it by itself.
    return openParams === undefined ? KNOWN : { kind: 'lost', openParams, roots, agentLocked, wasInTurn: isInTurn, replaying: [] };
  });
}

/** It ended at its agent, or nobody needs it any more. Every operation under way is late from now on. */
export const end = (_: SessionState): SessionState => CLOSED;

/** Work that holds the session lets a load wait, so any other state is a bug. */
export function loadable(state: SessionState): Loading['from'] {
  return state.kind === 'known' || state.kind === 'transcript' ? state : changeable(state);
}
/** How a load ends. */
export type LoadEnd = (now: Loading) => Settled['load'];
export function beginLoad(from: Loading['from'], op: Load): Loading {
  return { kind: 'loading', op, from, replay: undefined, roots: undefined, isUnwanted: false };
}
export function loadSent(now: Loading, replay: 'shown' | 'withheld' | undefined, roots: Roots | undefined): Loading {
  return { ...now, replay: replay ?? now.replay, roots };
}
/** The load under way, if any, decides whether anyone wants the session that its agent has opened. */
export function leftToLoad(state: Live): Live {
  if (state.kind === 'loading') return { ...state, isUnwanted: true };
  return isBusy(state) && state.from.kind !== 'closed' ? ({ ...state, from: leftToLoad(state.from) } as Live) : state;
}
/** The agent has answered: what it sends now is no replay. */
export const loadAnswered = (now: Loading): Loading => ({ ...now, replay: now.replay === 'withheld' ? undefined : now.replay });
/** A load does not begin a session: one that was open here had a prompt or not, and `isBegun` tells it of one from an earlier process. */
export function loaded(now: Loading, { openParams, roots }: Pick<OpenedWith, 'openParams' | 'roots'>, isBegun: () => boolean): Open {
  const from = restingOf(now.from);
  const agentLocked = from.kind === 'open' || from.kind === 'lost' ? from.agentLocked : from.kind !== 'known' || isBegun();
  return { kind: 'open', openParams, roots: roots ?? rootsOf(now), agentLocked };
}
/**
 * It can be opened anew if its agent refuses to load it: nobody has it open here, and according to its record it never had a prompt. A session
 * that has begun is never replaced.
 */
export const mayOpenAnew = ({ from }: Loading, hasBegun: () => boolean): boolean => from.kind === 'known' && !hasBegun();
/** Its agent did not keep it before the first prompt, and has opened another session for it. */
export const openedAnew = (now: Loading, { openParams, roots }: Pick<OpenedWith, 'openParams' | 'roots'>): Open => ({
  ...{ kind: 'open', openParams, roots: roots ?? rootsOf(now), agentLocked: false },
});
/** Its agent cannot load, but its process still has the session, parked or open. */
export const resumedInProcess = (_: Loading, open: Open): Open => open;
export const loadedFromTranscript = (_: Loading): Transcript => TRANSCRIPT;
/** A session that was in use before stays; one that only this load knew of is gone, unless its agent has made it. */
export function loadFailed({ from }: Loading, origin: 'client' | 'agent'): Loading['from'] | Discovered | Closed {
  if (from.kind !== 'known' && from.kind !== 'transcript') return from;
  return origin === 'agent' ? DISCOVERED : CLOSED;
}

export function mayRecover(state: SessionState): state is Lost | Recovering {
  return state.kind === 'lost' || state.kind === 'recovering';
}
/** A new attempt replaces an overdue one. */
export function beginRecovery(from: Lost | Recovering, op: Recovery): Recovering {
  return { kind: 'recovering', op, from: from.kind === 'lost' ? from : replaced(from), withholdsReplay: false, wait: 'awaited' };
}
function replaced({ from, op, withholdsReplay }: Recovering): Lost {
  return withholdsReplay ? { ...from, replaying: [...from.replaying, op] } : from;
}
export function recoveryRequested(now: Recovering, method: 'session/load' | 'session/resume'): Recovering {
  return { ...now, withholdsReplay: method === 'session/load' };
}
/** An attempt that was replaced has been answered: its replay is over. */
export function replayEnded(state: Live, op: Recovery): Live {
  return rebased(state, (resting) =>
    resting.kind === 'lost' ? { ...resting, replaying: resting.replaying.filter((other) => other !== op) } : resting,
  );
}
/** The agent has answered: what it sends now is no replay, also if the policy changes its mode first. */
export const recoveryAnswered = (now: Recovering): Recovering => ({ ...now, withholdsReplay: false });
export const recoveryWait = (now: Recovering, wait: Recovering['wait']): Recovering => ({ ...now, wait });
export function recovered({ from: { openParams, roots, agentLocked } }: Recovering): Open {
  return { kind: 'open', openParams, roots, agentLocked };
}
export const recoveryFailed = ({ from }: Recovering): Lost => from;

export function changeable(state: SessionState): Changing['from'] {
  if (state.kind === 'open' || mayRecover(state)) return state;
  throw new Error(`an operation began in a session that is ${state.kind}`);
}
export const beginChange = (from: Changing['from'], op: Change): Changing => ({ kind: 'changing', op, from });
export type ChangeEnd = (now: Changing) => Settled['change'];
/** The session is open at the other agent, with the params it had. */
export function changed({ from }: Changing): Open {
  const { openParams, roots } = from.kind === 'recovering' ? from.from : from;
  return { kind: 'open', openParams, roots, agentLocked: false };
}
export const changeFailed = ({ from }: Changing): Changing['from'] => from;

export function mayClose(state: SessionState): state is Exclude<Live, Closing> {
  return state.kind !== 'closing' && state.kind !== 'closed';
}
/** A change of agent under way is late from now on; a load or a recovery goes on. */
export function beginClose(state: Exclude<Live, Closing>, op: Close): Closing {
  return { kind: 'closing', op, from: state.kind === 'changing' ? state.from : state };
}
/** A load or a recovery may still be under way. */
export const closeRefused = ({ from }: Closing): Closing['from'] => from;

/**
 * The state after `op` has settled; undefined when it is late. The operation may stand below another one: a close, a load or a change of
 * agent overtakes it, and goes on.
 */
export function settle<Name extends keyof Held>(
  state: SessionState,
  op: Extract<Operation, { operation: Name }>,
  next: (now: Held[Name]) => Settled[Name],
): SessionState | undefined {
  if (!isBusy(state)) return undefined;
  if (state.op === op) return next(state as Held[Name]);
  const below = settle<Name>(state.from, op, next);
  // What ended below a close stays reserved until the close is answered: frames after it must not reach another session of that id.
  return below === undefined ? undefined : ({ ...state, from: below } as SessionState);
}

type Busy = Loading | Recovering | Changing | Closing;

function isBusy(state: SessionState): state is Busy {
  return state.kind === 'loading' || state.kind === 'recovering' || state.kind === 'changing' || state.kind === 'closing';
}

/** The session apart from the operations under way. */
export function restingOf(state: SessionState): Resting | Closed {
  return isBusy(state) ? restingOf(state.from) : state;
}

function rebased(state: Live, change: (resting: Resting) => Resting): Live {
  if (!isBusy(state)) return change(state);
  if (state.from.kind === 'closed') return state;
  const from = rebased(state.from, change);
  // Its agent opened it again, so it need not be recovered.
  if (state.kind === 'recovering') return from.kind === 'lost' ? { ...state, from } : from;
  return { ...state, from } as Live;
}

/** The operation of that name that is under way, if any. */
export function operationOf<Name extends keyof Held>(state: SessionState, name: Name): Held[Name] | undefined {
  if (!isBusy(state)) return undefined;
  return state.op.operation === name ? (state as Held[Name]) : operationOf(state.from, name);
}

/** Updates are a replay that no client asked for. */
export function withholdsUpdates(state: SessionState): boolean {
  if (state.kind === 'lost') return state.replaying.length > 0;
  if (state.kind === 'recovering' && state.withholdsReplay) return true;
  if (state.kind === 'loading' && state.replay !== undefined) return state.replay === 'withheld';
  return isBusy(state) && withholdsUpdates(state.from);
}

export function rootsOf(state: SessionState): Roots | undefined {
  if (state.kind === 'open' || state.kind === 'lost') return state.roots;
  if (!isBusy(state)) return undefined;
  return rootsOf(state.from) ?? (state.kind === 'loading' ? state.roots : undefined);
}

/** These end the work that the others wait for. */
const OVERTAKES: ReadonlySet<string> = new Set(['session/close', 'session/delete']);
/** These open the session themselves: a lost session is not recovered for them, and a transcript may be read again. */
const OPENS: ReadonlySet<string> = new Set(['session/load', 'session/resume']);

/**
 * What becomes of a frame from the client: `pass`; `wait` for the operation under way; `recover` the session first; `drop`, since its agent
 * does not have the session and is not started to hear about it; `refuse`, since the agent would start a new session under that id; `reroute`,
 * since the session has ended and its id may be another's.
 */
type Admission = 'pass' | 'wait' | 'recover' | 'drop' | 'refuse' | 'reroute';

export function admit(state: SessionState, method: string, isRequest: boolean): Admission {
  if (state.kind === 'closed') return 'reroute';
  if (method === 'session/cancel') return 'pass'; // it means the session as it was when it came
  if (state.kind === 'closing') return 'wait';
  if (OVERTAKES.has(method)) return 'pass';
  switch (state.kind) {
    case 'loading':
    case 'changing':
      return 'wait';
    case 'recovering':
      return state.wait === 'awaited' ? 'wait' : admit(state.from, method, isRequest);
    case 'lost':
      return OPENS.has(method) ? 'pass' : isRequest ? 'recover' : 'drop';
    case 'transcript':
      return OPENS.has(method) ? 'pass' : 'refuse';
    default:
      return 'pass';
  }
}

/** It does not wait behind frames that came before it. */
export const overtakes = (method: string): boolean => method === 'session/cancel' || OVERTAKES.has(method);
