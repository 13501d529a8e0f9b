// Observations at the proxy's edges so far, and the checks that need nothing else.
import type { VirtualClock } from './clock.ts';
import type { AgentFrame, AgentSession, ClientFrame, Ledger } from './ledger.ts';
import type { SimSink } from './pipe.ts';
import type { PolicyModel } from './policy-model.ts';
import type { Run } from './sim-agent.ts';

/** `isLive`: opened by the client and not ended by it. `run`: the process that opened it. */
type Holder = { readonly session: AgentSession; readonly isLive: boolean; readonly run?: Run };

export type Evidence = {
  readonly ledger: Ledger;
  readonly clock: VirtualClock;
  readonly cancelMs: number;
  readonly agents: readonly string[];
  readonly runs: Run[];
  readonly problems: string[];
  problem(text: string): void;
  toClient: SimSink | undefined;
  /** The client has its response to initialize. */
  isInitialized: boolean;
  isStopping: boolean;

  /** Client requests that the proxy has and has not answered, by their ids. */
  readonly open: Map<string, ClientFrame[]>;
  /** Responses with the id null that the client is still to get. */
  nullOwed: number;
  /** Counts events: the order in which one event's effects are written to several peers means nothing. */
  event: number;
  /** What was written to agents in this event: the frames of one process have an order. */
  writes: number;
  /** Requests that share their id with another and were taken to be the answered one. */
  readonly guessed: Set<ClientFrame>;
  /** In which event a request was answered. */
  readonly answeredIn: Map<ClientFrame, number>;
  /** When a cancelled prompt must have ended. */
  readonly deadlines: Map<ClientFrame, number>;
  /** By agent, `timeouts.prompt_ms` and `timeouts.permission_ms`; 0 for none. */
  readonly limits: Map<string, { readonly promptMs: number; readonly permissionMs: number }>;
  /** When a prompt that has a limit must have ended. */
  readonly promptLimits: Map<ClientFrame, number>;
  /** When the client was asked. */
  readonly askedAt: Map<AgentFrame, number>;
  /** When the proxy got it. */
  readonly arrivedAt: Map<AgentFrame, number>;
  /** How often a request was forwarded, and its id at an agent's process. */
  readonly forwarded: Map<ClientFrame, { readonly run: Run; readonly idText: string }[]>;
  /** The session a frame was for when it reached the proxy; absent when that was open. */
  readonly targets: Map<ClientFrame, AgentSession>;

  /** Which session each public id means. */
  readonly bound: Map<string, Holder>;
  /** Sessions whose frames may or may not come: ended by the client, or opened while it asked for another of that name. */
  readonly loose: Set<AgentSession>;
  /** Of these, the ones that the client has ended and not mentioned since: under which name, and in which event. */
  readonly left: Map<AgentSession, { readonly publicId: string; readonly event: number }>;
  /** The process in which a session was reopened for the client. An earlier one that still runs for others is no longer asked about it. */
  readonly backIn: Map<AgentSession, number>;
  /** Loads of a session that were written up to this moment no longer count: it has ended since, or was reopened in another way. */
  readonly leftBehind: Map<AgentSession, number>;
  /** Answered changes of agent: a session that one of them opened and that nobody has now is discarded. */
  readonly settledChanges: Set<ClientFrame>;
  /** The agent that the proxy last reported for a session. */
  readonly movedTo: Map<string, string>;
  /** Every public id that either side has used towards the other. */
  readonly spokenOf: Set<string>;
  /** Changes of agent in progress. */
  readonly changes: Set<ClientFrame>;
  /** Of all changes, those for which an agent has been asked to open a session. */
  readonly begunChanges: Set<ClientFrame>;
  /** Sessions whose updates are an unwanted replay, by the response that ends it. */
  readonly withheld: Map<AgentSession, ClientFrame | undefined>;

  /** What reached the proxy in this event, from agents and from the client. */
  arrived: AgentFrame[];
  fromClient: ClientFrame[];
  /** Frames that must keep their order, as they reached the proxy, and how many of them are done. */
  readonly streams: Map<string, { readonly frames: AgentFrame[]; next: number }>;
  /** Frames that were overtaken in this event; only its end shows whether they may be missing. */
  overtaken: { readonly frame: AgentFrame; readonly by: AgentFrame }[];
  /** Requests as the client has them. */
  readonly atClient: Map<string, AgentFrame>;
  /** The client's session of a request when it was sent: the client may find a delegated session later. */
  readonly requestedFor: Map<AgentFrame, AgentSession>;
  /** The ids of the sessions in which it is asked. */
  readonly shownUnder: Map<AgentFrame, string>;
  /** Those that left it in this event, perhaps behind what made them void. */
  answeredNow: Map<string, AgentFrame>;
  /** Sessions that a client request has reached by name alone. */
  readonly foundByName: Set<AgentSession>;
  /** Ids that the client has asked for without knowing their owner. */
  readonly blindLoads: Set<string>;
  /** Those of a session the client has opened, and the id there. */
  readonly requestedIn: Map<AgentFrame, string>;
  /** The proxy's own requests to the client, about an agent's request. */
  readonly standIns: Map<string, AgentFrame>;
  readonly policyModel: PolicyModel | undefined;
  /** The policy that was in force when a frame reached the proxy. */
  readonly sentUnder: Map<AgentFrame, string>;
  /** Sessions refused for the mode they were reopened in, and the process that has them so: its frames there are for nobody. */
  readonly refused: Map<AgentSession, Run>;
  /** The responses that were the reason. */
  readonly refusedByPolicy: Set<AgentFrame>;
  /** In which event the proxy last asked a process to close or delete a session. */
  readonly closedIn: Map<Run, Map<AgentSession, number>>;
  /** Sessions whose turns the proxy has cancelled by itself in this event, and the requests of live agents that it withdrew. */
  readonly cancelledHere: Set<AgentSession>;
  takenBack: { readonly agentRequest: AgentFrame; readonly line: string }[];
  /** Requests whose agents have got their answers in this event. */
  readonly answeredHere: Set<AgentFrame>;
  /** Sessions of delegations, and the calls behind them. */
  readonly delegations: Map<AgentSession, AgentFrame>;
  /** Those that were prompted and have not answered. */
  readonly atWork: Set<AgentSession>;
  /** Those that the client has cancelled with their session, and when their calls must be answered. */
  readonly calledOff: Map<AgentSession, number>;
  /** In which event the delegated agents were told to stop. */
  readonly stopRequested: Map<AgentSession, number>;
  /** Tool calls that the proxy itself displays and has not ended, and their sessions. */
  readonly shownCalls: Map<string, string>;
  /** Executed host tool calls. */
  readonly hostToolRuns: Set<string>;
  readonly answered: Set<AgentFrame>;
  /** Of these, the ones that the agent had cancelled before. After a client's cancel it may do so once it has its answer. */
  readonly answeredWithdrawn: Set<AgentFrame>;
  readonly answeredByClient: Map<AgentFrame, ClientFrame>;
  readonly mustBeCancelled: Set<AgentFrame>;
  readonly terminals: Map<string, { readonly run: Run; readonly session: AgentSession | undefined }>;
  /** Withdrawn terminal/create requests, by their ids at the client, which may answer them all the same. */
  readonly withdrawnCreates: Set<string>;
  /** Terminals that the client has created for such a request, and the proxy has not released. */
  readonly unwantedTerminals: Set<string>;
  /** Who has sent the client an elicitation under a name, and how many of these are not completed. */
  readonly elicitations: Map<string, { readonly run: Run; readonly name: string; open: number }>;
  /** The client's pending requests of sessions that have ended in this event, by their ids there. */
  readonly endedWith: Map<string, AgentFrame>;
  /** Public names of MCP calls, by the number of the request. */
  readonly mcpNames: Map<number, unknown>;
  readonly toolCalls: Map<string, { readonly run: Run; readonly publicId: string; readonly toolCallId: string }>;
};

export function createEvidence(
  ledger: Ledger,
  clock: VirtualClock,
  cancelMs: number,
  agents: readonly string[],
  policyModel: PolicyModel | undefined,
): Evidence {
  const problems: string[] = [];
  return {
    ...{ ledger, clock, cancelMs, agents, policyModel, problems },
    runs: [],
    problem: (text) => void problems.push(text),
    toClient: undefined,
    isInitialized: false,
    isStopping: false,
    open: new Map(),
    nullOwed: 0,
    event: 0,
    writes: 0,
    guessed: new Set(),
    answeredIn: new Map(),
    deadlines: new Map(),
    limits: new Map(),
    promptLimits: new Map(),
    askedAt: new Map(),
    arrivedAt: new Map(),
    forwarded: new Map(),
    targets: new Map(),
    bound: new Map(),
    loose: new Set(),
    left: new Map(),
    backIn: new Map(),
    leftBehind: new Map(),
    settledChanges: new Set(),
    movedTo: new Map(),
    spokenOf: new Set(),
    changes: new Set(),
    begunChanges: new Set(),
    withheld: new Map(),
    arrived: [],
    fromClient: [],
    streams: new Map(),
    overtaken: [],
    atClient: new Map(),
    requestedFor: new Map(),
    shownUnder: new Map(),
    answeredNow: new Map(),
    foundByName: new Set(),
    blindLoads: new Set(),
    requestedIn: new Map(),
    standIns: new Map(),
    sentUnder: new Map(),
    refused: new Map(),
    refusedByPolicy: new Set(),
    closedIn: new Map(),
    cancelledHere: new Set(),
    takenBack: [],
    answeredHere: new Set(),
    delegations: new Map(),
    atWork: new Set(),
    calledOff: new Map(),
    stopRequested: new Map(),
    shownCalls: new Map(),
    hostToolRuns: new Set(),
    answered: new Set(),
    answeredWithdrawn: new Set(),
    answeredByClient: new Map(),
    mustBeCancelled: new Set(),
    terminals: new Map(),
    withdrawnCreates: new Set(),
    unwantedTerminals: new Set(),
    elicitations: new Map(),
    endedWith: new Map(),
    mcpNames: new Map(),
    toolCalls: new Map(),
  };
}

export const runOf = ({ runs }: Evidence, frame: AgentFrame): Run =>
  runs.find(({ agent, number }) => agent === frame.agent && number === frame.run) as Run;

/** Between its death and the proxy's knowledge of it, what is written to an agent is lost. */
export const isThere = ({ sim }: Run): boolean => sim.isAlive && !sim.isOver;

/**
 * A delegation opened it in another process, which is there. An agent with a process for each session keeps it to that one: the proxy cannot
 * know that the session the client asks for is the same, since such processes may use one id for two sessions.
 */
export const isDelegatedElsewhere = ({ runs }: Evidence, run: Run, session: AgentSession): boolean =>
  session.isDelegation && runs.some((other) => other !== run && isThere(other) && other.open.has(session));

export function openRequests({ open }: Evidence): ClientFrame[] {
  return [...open.values()].flat();
}

export const isLoad = ({ method }: ClientFrame): boolean => method === 'session/load' || method === 'session/resume';

/** Whether the owner of a session is ambiguous. */
export const isChanging = ({ changes }: Evidence, lineage: number | undefined): boolean =>
  lineage !== undefined && [...changes].some((change) => change.lineage === lineage);

/** Opened for a change of agent that failed or was cancelled. */
export function isDiscarded({ settledChanges, bound }: Evidence, session: AgentSession): boolean {
  const isOpenedBy = ({ lineage, about }: ClientFrame) => lineage === session.lineage && about.changesTo === session.agent;
  return [...settledChanges].some(isOpenedBy) && ![...bound.values()].some((holder) => holder.isLive && holder.session === session);
}

/** From now on the session's updates are an unwanted replay, and so is what arrived together with its cause. */
export function withhold(seen: Evidence, session: AgentSession, until: ClientFrame | undefined): void {
  seen.withheld.set(session, until);
  for (const frame of seen.arrived) if (frame.session === session && frame.kind === 'update' && frame.fate === 'must') frame.fate = 'may';
}

/** Of a session in `loose`: it may or may not come. */
export function letGo(frame: AgentFrame): void {
  if (frame.fate === 'must' || frame.about.isReplay === true) frame.fate = 'may';
}

/** The client means the session it has ended, by a name nobody else has: it may exist again. */
export function speakOf({ left, bound }: Evidence, name: string): void {
  if (bound.get(name)?.isLive) return;
  for (const [session, { publicId }] of left) if ([publicId, session.native, listedAs(session)].includes(name)) left.delete(session);
}

/** The alias of a session whose id another one has. */
export const listedAs = ({ native, agent }: AgentSession): string => `${native}~${agent}`;

export function leaveBehind({ leftBehind }: Evidence, session: AgentSession, moment: number): void {
  leftBehind.set(session, Math.max(moment, leftBehind.get(session) ?? moment));
}

/** The moment of a frame to an agent: the event, and within it the place among the frames to agents. */
const PLACE = 1e-6;
export const momentOf = ({ event, writes }: Evidence): number => event + writes * PLACE;
/** Before that, also in the same event. */
export const justBefore = (moment: number): number => moment - PLACE / 2;
/** With all that is written in the event. */
export const endOf = (event: number): number => event + 1 - PLACE;

/**
 * An unwanted replay, of a load in progress when the client ended the session or when it was reopened in another way. When the session is
 * in use again this cannot be distinguished from its current updates, and holding it back would hold those back too, for as long as the old
 * load takes: perhaps without end.
 */
export function isOfLoadLeftBehind({ leftBehind }: Evidence, { session, about }: AgentFrame): boolean {
  const moment = session && leftBehind.get(session);
  return about.isReplay === true && moment !== undefined && (about.loadedIn as number) <= moment;
}

/** A replay that the client asked for and no longer waits for: it has closed the session, or withdrawn the request. */
export function isOfAnsweredLoad({ ledger }: Evidence, { about }: AgentFrame): boolean {
  return about.isReplay !== true && (ledger.clientFrame(about.replayFor)?.answers ?? 0) > 0;
}

/**
 * The last word of a turn that ended for the client when it closed the session. After a resume that was a load, it cannot be distinguished from
 * a replay that comes late.
 */
export function isOfClosedTurn({ ledger, leftBehind }: Evidence, { session, about }: AgentFrame): boolean {
  return session !== undefined && leftBehind.has(session) && (ledger.clientFrame(about.lastWordFor)?.answers ?? 0) > 0;
}

/** Of a process that had the session before the client closed it, and still runs for others: it was reopened in a newer one. */
export function isOfEarlierProcess({ backIn }: Evidence, { session, kind, run }: AgentFrame): boolean {
  return kind !== 'answer' && session !== undefined && run < (backIn.get(session) ?? 0);
}

/** Whether a frame that has not come through may be missing. */
export function mayBeMissing(seen: Evidence, frame: AgentFrame): boolean {
  if (frame.fate !== 'must' || !frame.isDelivered) return true;
  // Its request is already answered, for example by the cancel of its turn.
  if (frame.kind === 'answer') return (seen.ledger.clientFrame(frame.answerTo)?.answers ?? 0) > 0;
  // Answered by the proxy, or nobody is left to get the answer.
  return frame.kind === 'request' && (seen.answered.has(frame) || !isThere(runOf(seen, frame)));
}

export const nameOf = (frame: AgentFrame | ClientFrame): string =>
  'agent' in frame
    ? `${frame.kind} ${frame.serial} of ${frame.agent}#${frame.run}${frame.session ? `/${frame.session.native}` : ''} (${frame.method ?? `answer to ${frame.answerTo}`})`
    : `${frame.kind} ${frame.serial} of the client (${frame.method ?? `answer to ${frame.answerTo}`}${frame.publicId === undefined ? '' : ` on ${frame.publicId}`})`;

/** Nobody has answered a permission request within the limit of its agent, which counts while the proxy holds it back, too. */
export const mayBeExpired = (seen: Evidence, agentRequest: AgentFrame): boolean =>
  isExpired({ ...seen, askedAt: seen.arrivedAt }, agentRequest);

/** Nobody has answered a permission request within the limit of its agent. */
export function isExpired({ limits, askedAt, clock }: Evidence, agentRequest: AgentFrame, moreMs = 0): boolean {
  const limitMs = limits.get(agentRequest.agent)?.permissionMs ?? 0;
  const since = askedAt.get(agentRequest);
  if (limitMs === 0 || since === undefined || agentRequest.method !== 'session/request_permission') return false;
  return clock.nowMs >= since + limitMs + moreMs;
}

/** Whether the agent has cancelled its request by now, in a readable frame. */
export const isWithdrawn = ({ ledger }: Evidence, agentRequest: AgentFrame): boolean =>
  ledger.agentFrames.some(({ about, isDelivered, fate }) => about.withdraws === agentRequest.serial && isDelivered && fate !== 'never');
