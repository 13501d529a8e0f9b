// The oracle: sees every byte that enters and leaves the proxy, and reports violations. It has no influence on what happens.
import type { Limits } from '../../src/wire/frame.ts';
import { checkAgent } from './check-agent.ts';
import { checkClient, type Received } from './check-client.ts';
import type { VirtualClock } from './clock.ts';
import type { AgentFrame, AgentSession, ClientFrame, Ledger } from './ledger.ts';
import {
  cancelDelegations,
  delegationsEnd,
  delegationsLeaveNoTerminal,
  endedSessionsAskNothing,
  isOf,
  limitsHold,
  noOrphanRequests,
  nothingIsLeftOpen,
  noUnwantedTerminal,
  shownCallsEnd,
} from './nothing-left.ts';
import {
  createEvidence,
  type Evidence,
  isChanging,
  isDiscarded,
  isLoad,
  isOfAnsweredLoad,
  isOfClosedTurn,
  isOfEarlierProcess,
  isOfLoadLeftBehind,
  isThere,
  justBefore,
  leaveBehind,
  letGo,
  mayBeMissing,
  nameOf,
  openRequests,
  runOf,
  speakOf,
} from './observations.ts';
import { CHUNK_BYTES, type SimSink } from './pipe.ts';
import type { PolicyModel } from './policy-model.ts';
import type { AgentInput, Run } from './sim-agent.ts';
import { hostToolRan, letGoIfRefused, lookForRefused, waitsForMode } from './under-policy.ts';

export type Oracle = {
  readonly problems: readonly string[];
  readonly seen: Evidence;
  watchClient(sink: SimSink): void;
  launched(run: Run): void;
  agentGone(run: Run): void;
  /** The last byte of a frame has reached the proxy. */
  agentSent(frame: AgentFrame): void;
  clientSent(frame: ClientFrame): void;
  /** A request on a session reaches a process that has not opened it. */
  notOpenHere(run: Run, session: AgentSession, client: number): void;
  /** A line that the proxy has written. */
  agentReceived(run: Run, line: string): AgentInput;
  clientReceived(line: string): Received;
  /** A host tool is executed, for the call with this key. */
  hostToolRan(key: string): void;
  /** An event and all its effects are done. */
  settled(): void;
  /** Everybody has sent what they owed, and time has run out. */
  drained(): void;
  /** The connection was stopped. */
  stopped(): void;
};

/** What may be queued for a client that does not read, besides what it requested: one chunk, and our own messages about it. */
const CLIENT_SLACK_BYTES = CHUNK_BYTES + 16 * 1024;

/** After a crash, these must not reach the agent before the session was recovered. */
const BRINGS_BACK = new Set(['session/prompt', 'session/set_mode', 'session/set_config_option', 'session/fork']);

export function createOracle(
  ledger: Ledger,
  clock: VirtualClock,
  about: {
    readonly agents: readonly string[];
    readonly limits: Limits;
    readonly cancelMs: number;
    readonly policyModel: PolicyModel | undefined;
  },
): Oracle {
  const seen = createEvidence(ledger, clock, about.cancelMs, about.agents, about.policyModel);
  const { problem } = seen;
  /** Requests that waited for the user when their turn was cancelled. */
  const mustEnd = new Set<AgentFrame>();

  function requestSent(frame: ClientFrame): void {
    if (frame.idText === 'null') {
      seen.nullOwed++;
      frame.answers = 1; // it cannot be distinguished from others, so they are counted together
      return;
    }
    const idText = frame.idText as string;
    seen.open.set(idText, [...(seen.open.get(idText) ?? []), frame]);
    const holder = frame.publicId === undefined ? undefined : seen.bound.get(frame.publicId);
    if (holder?.isLive && !isChanging(seen, frame.lineage) && frame.lineage !== undefined) seen.targets.set(frame, holder.session);
    if (frame.about.changesTo !== undefined) seen.changes.add(frame);
    if (isLoad(frame) && frame.lineage === undefined) seen.blindLoads.add(frame.publicId as string);
  }
  /** From now on the session's pending requests are `cancelled`, and its turns have until the deadline to end. */
  function cancelSent({ publicId, lineage }: ClientFrame): void {
    const holder = publicId === undefined ? undefined : seen.bound.get(publicId);
    if (!holder) return;
    if (!holder.isLive || !seen.isInitialized || isChanging(seen, lineage) || holder.session.lineage !== lineage) return;
    // After a session/delete it has no session.
    if (openRequests(seen).some((request) => request.method === 'session/delete' && request.publicId === publicId)) return;
    cancelDelegations(seen, holder.session, clock.nowMs + about.cancelMs);
    for (const request of openRequests(seen))
      if (request.method === 'session/prompt' && request.publicId === publicId && !seen.deadlines.has(request) && request.about.isTurn)
        seen.deadlines.set(request, clock.nowMs + about.cancelMs);
    for (const agentRequest of seen.atClient.values())
      if (
        isOf(agentRequest, holder.session) &&
        isCancellable(agentRequest) &&
        // An agent with a process for each session may use one id in two of them.
        seen.requestedIn.get(agentRequest) === publicId &&
        !seen.answered.has(agentRequest) &&
        isThere(runOf(seen, agentRequest))
      )
        seen.mustBeCancelled.add(agentRequest);
    for (const agentRequest of seen.standIns.values())
      if (isOf(agentRequest, holder.session) && !seen.answered.has(agentRequest) && isThere(runOf(seen, agentRequest)))
        mustEnd.add(agentRequest);
  }
  function answerSent(frame: ClientFrame): void {
    const agentRequest = ledger.agentFrame(frame.answerTo);
    if (frame.about.isStandIn) {
      const id = frame.idText as string;
      const about = seen.standIns.get(id);
      if (frame.about.isUnheard || !about) return;
      seen.standIns.delete(id);
      // A frame before it in the same chunk may end its agent: then it is withdrawn before the answer is read.
      seen.answeredNow.set(id, about);
      return;
    }
    const { terminalId } = frame.about;
    if (typeof terminalId === 'string' && frame.fate === 'must' && seen.withdrawnCreates.delete(frame.idText as string))
      seen.unwantedTerminals.add(terminalId);
    if (!agentRequest || frame.about.isUnheard || seen.atClient.get(frame.idText as string) !== agentRequest) return;
    seen.atClient.delete(frame.idText as string);
    seen.answeredNow.set(frame.idText as string, agentRequest);
    if (!seen.answered.has(agentRequest)) seen.answeredByClient.set(agentRequest, frame);
    if (typeof terminalId === 'string' && frame.fate === 'must')
      seen.terminals.set(terminalId, { run: runOf(seen, agentRequest), session: agentRequest.session });
  }

  function queuesAreBounded(): void {
    const { maxQueueBytes, maxFrameBytes } = about.limits;
    for (const { agent, sim } of seen.runs)
      if (!sim.isOver && sim.sink.writableLength > maxQueueBytes + 2 * maxFrameBytes)
        problem(`${sim.sink.writableLength} bytes are queued for ${agent}, and limits.max_queue_bytes is ${maxQueueBytes}`);
    const { toClient } = seen;
    if (!toClient?.needsDrain) return;
    for (const { agent, number, sim } of seen.runs)
      if (!sim.isOver && !sim.wasStopped && !sim.isPaused && !sim.source.isOver)
        problem(`${agent}#${number} is read on though the client does not take what comes`);
    if (toClient.writableLength > CLIENT_SLACK_BYTES) problem(`${toClient.writableLength} bytes are queued for the client`);
  }
  function nothingHangsOnTheDead(): void {
    for (const [id, agentRequest] of seen.atClient)
      if (runOf(seen, agentRequest).sim.isOver && !seen.isStopping && !(agentRequest.session && seen.loose.has(agentRequest.session)))
        problem(`${nameOf(agentRequest)} is open at the client as ${id} though its process is over`);
    for (const [id, agentRequest] of seen.standIns)
      if (agentRequest.about.isHostTool === true && seen.answeredWithdrawn.has(agentRequest))
        problem(`${nameOf(agentRequest)} has its answer, and the client is still asked about it as ${id}`);
    for (const [id, agentRequest] of seen.standIns)
      if (runOf(seen, agentRequest).sim.isOver && !seen.isStopping)
        problem(`what the proxy asks about ${nameOf(agentRequest)} is open at the client as ${id} though its process is over`);
    for (const [key, { run, publicId, toolCallId }] of seen.toolCalls) {
      if (!run.sim.isOver) continue;
      seen.toolCalls.delete(key);
      if (seen.bound.get(publicId)?.isLive && !seen.isStopping)
        problem(`tool call ${toolCallId} of ${publicId} never ends: ${run.agent}#${run.number} is over`);
    }
  }
  function cancelledEnds(): void {
    for (const agentRequest of seen.mustBeCancelled)
      if (isThere(runOf(seen, agentRequest))) problem(`${nameOf(agentRequest)} was cancelled and its agent has not heard so`);
    seen.mustBeCancelled.clear();
    for (const agentRequest of mustEnd)
      if (!seen.answered.has(agentRequest) && isThere(runOf(seen, agentRequest)))
        problem(`${nameOf(agentRequest)} was cancelled and its agent has not heard so`);
    mustEnd.clear();
    for (const [request, deadline] of seen.deadlines)
      if (clock.nowMs > deadline) {
        seen.deadlines.delete(request);
        if (!seen.isStopping) problem(`${nameOf(request)} was cancelled and has not ended in time`);
      }
  }

  return {
    seen,
    problems: seen.problems,
    watchClient(sink) {
      seen.toClient = sink;
    },
    launched(run) {
      seen.runs.push(run);
      const isSessionNote = ({ kind, method, lineage }: ClientFrame) =>
        kind === 'notification' && method !== 'session/cancel' && lineage !== undefined;
      if (seen.fromClient.length > 0 && seen.fromClient.every(isSessionNote))
        problem(`${run.agent}#${run.number} is started for nothing but ${seen.fromClient.map(nameOf).join(', ')}`);
    },
    agentGone(run) {
      for (const [terminalId, owner] of seen.terminals) if (owner.run === run) seen.terminals.delete(terminalId);
    },
    agentSent(frame) {
      frame.isDelivered = true;
      seen.arrived.push(frame);
      seen.arrivedAt.set(frame, clock.nowMs);
      if (about.policyModel) seen.sentUnder.set(frame, about.policyModel.hash);
      if (frame.session && (seen.loose.has(frame.session) || isRequestedBlindly(frame.session) || isDiscarded(seen, frame.session)))
        letGo(frame);
      const isOfThePast = [isOfLoadLeftBehind, isOfAnsweredLoad, isOfClosedTurn, isOfEarlierProcess].some((is) => is(seen, frame));
      if (isOfThePast) letGo(frame);
      letGoIfRefused(seen, frame);
      if (frame.session && frame.kind === 'answer') {
        if (frame.about.opened === true && frame.fate !== 'never') frame.session.openedBy = frame.serial;
        const withheldBy = seen.withheld.get(frame.session);
        if (frame.fate !== 'never' && frame.about.backSince !== undefined) {
          leaveBehind(seen, frame.session, justBefore(frame.about.backSince as number));
          seen.withheld.delete(frame.session);
        }
        const isUsed = frame.fate !== 'never' || frame.about.isRefused === true;
        if (isUsed && seen.withheld.has(frame.session) && withheldBy?.serial === frame.answerTo) seen.withheld.delete(frame.session);
      }
      if (frame.kind === 'update' && frame.fate === 'must' && frame.session && isWithheld(frame, frame.session)) frame.fate = 'may';
      if (frame.method === 'terminal/release') {
        const owner = seen.terminals.get(String(frame.about.terminalId));
        if (owner?.session === frame.session && owner?.run === runOf(seen, frame)) seen.terminals.delete(String(frame.about.terminalId));
      }
      if (frame.stream === undefined) return;
      const stream = seen.streams.get(frame.stream);
      if (stream) stream.frames.push(frame);
      else seen.streams.set(frame.stream, { frames: [frame], next: 0 });
    },
    clientSent(frame) {
      frame.isDelivered = true;
      seen.fromClient.push(frame);
      if (frame.about.owesNull === true) seen.nullOwed++;
      if (frame.publicId !== undefined) {
        seen.spokenOf.add(frame.publicId);
        speakOf(seen, frame.publicId);
      }
      if (frame.kind === 'request') requestSent(frame);
      else if (frame.kind === 'answer') answerSent(frame);
      else if (frame.method === 'session/cancel') cancelSent(frame);
    },
    notOpenHere(run, session, client) {
      const request = ledger.clientFrame(client) as ClientFrame;
      if (request.lineage === undefined || seen.loose.has(session)) return;
      // A process that the proxy has ended may read its last input later than the session was opened in the next one.
      const isLate = run.sim.isOver;
      const elsewhere = seen.runs.find((other) => other !== run && !other.sim.isOver && other.sim.isAlive && other.open.has(session));
      if (elsewhere && !isLate)
        problem(`${nameOf(request)} reaches ${run.agent}#${run.number}, and the session is open in #${elsewhere.number}`);
      else if (BRINGS_BACK.has(request.method as string))
        problem(`${nameOf(request)} reaches ${run.agent}#${run.number}, where nobody has brought the session back`);
    },
    agentReceived: (run, line) => checkAgent(seen, run, line),
    clientReceived: (line) => checkClient(seen, line),
    hostToolRan: (key) => hostToolRan(seen, key),
    settled() {
      seen.event++;
      seen.writes = 0;
      lookForRefused(seen);
      noOrphanRequests(seen);
      endedSessionsAskNothing(seen);
      seen.arrived = [];
      seen.fromClient = [];
      seen.answeredNow.clear();
      // When the client disconnects, turns are also cancelled at agents that have just died and get nothing.
      for (const { agentRequest, line } of seen.takenBack)
        if (
          !seen.isStopping &&
          !isOfNobody(agentRequest) &&
          !isTooRecent(agentRequest) &&
          (!agentRequest.session || !seen.cancelledHere.has(agentRequest.session))
        )
          problem(`${nameOf(agentRequest)} is withdrawn though its agent is running: ${line}`);
      for (const session of seen.cancelledHere)
        for (const [id, agentRequest] of [...seen.atClient, ...seen.standIns])
          if (agentRequest.session === session && seen.answeredHere.has(agentRequest) && !seen.loose.has(session) && !seen.isStopping)
            problem(`${nameOf(agentRequest)} was cancelled by the proxy, and the client is still asked as ${id}`);
      seen.takenBack = [];
      seen.answeredHere.clear();
      seen.cancelledHere.clear();
      for (const { frame, by } of seen.overtaken)
        if (!mayBeMissing(seen, frame) && !waitsForMode(seen, frame))
          problem(`${nameOf(by)} comes before what was said earlier: ${nameOf(frame)}`);
      seen.overtaken = [];
      queuesAreBounded();
      delegationsEnd(seen);
      nothingHangsOnTheDead();
      noUnwantedTerminal(seen);
      cancelledEnds();
      limitsHold(seen);
    },
    drained() {
      for (const request of openRequests(seen)) problem(`${nameOf(request)} was never answered`);
      nothingIsLeftOpen(seen);
      delegationsLeaveNoTerminal(seen);
      shownCallsEnd(seen);
      if (seen.nullOwed !== 0) problem(`${seen.nullOwed} answers with the id null are missing`);
      for (const frame of ledger.agentFrames)
        if (frame.isDelivered && !frame.isReceived && !mayBeMissing(seen, frame) && !waitsForClient(frame))
          problem(`${nameOf(frame)} never came through`);
      for (const frame of ledger.agentFrames)
        if (frame.about.isHostTool === true && isOwedAnOutcome(frame))
          problem(`${nameOf(frame)} has no answer, and nobody is asked about it`);
      for (const frame of ledger.agentFrames)
        if (frame.kind === 'request' && isOwedAnAnswer(frame)) problem(`${nameOf(frame)} was answered, and its agent has not heard so`);
    },
    stopped() {
      if (!seen.toClient?.isBroken) for (const request of openRequests(seen)) problem(`${nameOf(request)} has no answer at the end`);
      if (clock.pending('proxy') > 0) problem(`${clock.pending('proxy')} timers are left behind`);
      for (const { agent, number, sim } of seen.runs)
        if (sim.isAlive || !(sim.isOver || sim.wasStopped)) problem(`${agent}#${number} is left behind`);
    },
  };

  /** For a session that the client was refused, has left or never knew: its agent, if alive, has got the answer that nobody will answer. */
  function isOfNobody(agentRequest: AgentFrame): boolean {
    const { session } = agentRequest;
    if (!session || (!seen.answered.has(agentRequest) && isThere(runOf(seen, agentRequest)))) return false;
    if (session.isDelegation || seen.loose.has(session)) return true;
    return seen.refused.get(session) === runOf(seen, agentRequest) || isDiscarded(seen, session);
  }
  /** At an agent that has not answered initialize, the proxy cancels a turn only in its responses. */
  function isTooRecent(agentRequest: AgentFrame): boolean {
    const hasBegun = ({ kind, agent, run, isDelivered }: AgentFrame) =>
      kind === 'answer' && agent === agentRequest.agent && run === agentRequest.run && isDelivered;
    return seen.answered.has(agentRequest) && !ledger.agentFrames.some(hasBegun);
  }
  /** Also when the load that means it was written to a process that could no longer read it. */
  function isWithheld(frame: AgentFrame, session: AgentSession): boolean {
    if (seen.withheld.has(session)) return true;
    // After a close the client cannot know whose session it is by then; when the close fails, it is the same.
    const isMeant = ({ lineage, publicId = '' }: ClientFrame) =>
      lineage === undefined ? seen.bound.get(publicId)?.session === session : lineage === session.lineage;
    return !runOf(seen, frame).sim.isAlive && openRequests(seen).some((request) => request.method === 'session/resume' && isMeant(request));
  }
  /** Nobody has opened it, and the client has asked every agent for one of that name. */
  function isRequestedBlindly(session: AgentSession): boolean {
    return seen.blindLoads.has(session.native) && ![...seen.bound.values()].some((holder) => holder.isLive && holder.session === session);
  }
  /**
   * The proxy has asked about it, or about one before it in its stream, and the client's answer was not JSON: nobody can tell what it
   * answers, so it is open as if it had never been sent. While others are forwarded this excuses nothing: they must not overtake it.
   */
  function waitsForClient(frame: AgentFrame): boolean {
    return [...seen.standIns.values()].some(
      (agentRequest) =>
        agentRequest.stream !== undefined &&
        agentRequest.stream === frame.stream &&
        agentRequest.serial <= frame.serial &&
        !seen.answered.has(agentRequest),
    );
  }
  /** Of a host tool call: only the client can keep it waiting. */
  function isOwedAnOutcome(frame: AgentFrame): boolean {
    const { sim, requests } = runOf(seen, frame);
    return (
      frame.isDelivered && sim.isAlive && requests.has(frame) && !seen.answered.has(frame) && ![...seen.standIns.values()].includes(frame)
    );
  }
  function isOwedAnAnswer(frame: AgentFrame): boolean {
    if (!frame.isDelivered || seen.answered.has(frame) || !isThere(runOf(seen, frame))) return false;
    return seen.answeredByClient.has(frame) || (frame.fate === 'never' && frame.about.isRefused === true);
  }
}

const isCancellable = ({ method }: AgentFrame): boolean => method === 'session/request_permission' || method === 'elicitation/create';
