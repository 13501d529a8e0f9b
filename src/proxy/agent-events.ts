// What an agent's frames, start and end do to the sessions and requests of its proxy.
import type { AgentSpec } from '../agents/defaults.ts';
import { failure } from '../errors.ts';
import { aliasFor } from '../router/session-table.ts';
import type { Frame } from '../wire/frame.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import type { Agent, AgentDeps, AgentEvents } from './agents/agent.ts';
import type { PoolEvents } from './agents/agent-pool.ts';
import { type Context, skipLine } from './context.ts';
import { type EnforcementHost, NARROWED } from './enforcement/enforcement.ts';
import { batchFromAgent, fromAgent } from './from-agent.ts';
import { cacheHandshake } from './initialize.ts';
import { updateLine } from './json-rpc-lines.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { closeAt } from './sessions/close-session.ts';
import { announceOptions } from './sessions/config-options.ts';
import { loseSessions } from './sessions/recover-session.ts';
import type { RegistryDeps } from './sessions/session-registry.ts';
import { revokeAttachment } from './tools/session-tools.ts';
import { cancelTurns } from './turns/cancel.ts';
import { notifyInSession, showsNotices } from './turns/notify-in-session.ts';
import { endOpenWork } from './turns/tool-calls.ts';

const STRAY_RETURN = 'a carriage return inside it, which some readers take for the end of a line';

export type AgentEventDeps = {
  readonly parts: () => ProxyParts;
  /** Holds frames until the client has its answer to initialize. */
  readonly gate: {
    isInitialized(): boolean;
    afterInitialize(from: Agent, frame: Frame, then: (frame: Frame) => void): void;
  };
  readonly onStateChange: () => void;
  /** Undefined without a policy. */
  readonly enforcement: Context['enforcement'];
};

export function createAgentEvents({ parts, gate, onStateChange, enforcement }: AgentEventDeps): AgentEvents {
  /** By agent, the last reported end; forgotten once the agent is ready. */
  const reported = new Map<string, string>();
  /** Under a policy only: what is evaluated as one frame must not be read as two. */
  function refuseCarriageReturn(agent: Agent, frame: Frame): void {
    skipLine(parts().context, agent.name, STRAY_RETURN);
    if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('NOT_A_MESSAGE', [STRAY_RETURN]));
  }
  return {
    onFrame(agent, frame) {
      const proxy = parts();
      const { lastFrame } = proxy.context;
      lastFrame.method = frame.method;
      lastFrame.bytes = frame.end - frame.start;
      if (enforcement?.refusesCarriageReturn(frame)) return refuseCarriageReturn(agent, frame);
      if (gate.isInitialized()) return fromAgent(proxy, agent, frame);
      const { connection } = agent;
      gate.afterInitialize(agent, frame, (kept) => {
        // A request of a connection that has ended has nobody to answer.
        if (kept.kind === 'notification' || (connection && agent.connection === connection)) fromAgent(proxy, agent, kept);
      });
    },
    onBatch(agent, batch) {
      const proxy = parts();
      if (!gate.isInitialized() || !batchFromAgent(proxy, agent, batch)) return false;
      const { first, ends } = batch;
      proxy.context.lastFrame.method = first.method;
      proxy.context.lastFrame.bytes = (ends.at(-1) as number) - (ends.at(-2) as number) - 1;
      return true;
    },
    onRefused: (agent, { reason }) => skipLine(parts().context, agent.name, reason),
    onAnswer:
      enforcement &&
      ((agent, call, answer) => {
        if (enforcement.refusesCarriageReturn(answer))
          call.onFail(failure('ANSWER_REFUSED', [`agent "${agent.name}"`, call.method, STRAY_RETURN], { agent: agent.name }));
        else if (NARROWED.has(call.method)) {
          const { connection } = agent;
          enforcement.narrowAnswer(agent, call, answer, (narrowed) => {
            // While the policy changes a mode, the agent may exit, and its session with it.
            if (agent.connection === connection) call.onAnswer(narrowed);
            else call.onFail(agent.health().lastError ?? failure('SHUTTING_DOWN', []));
          });
        } else call.onAnswer(answer);
      }),
    onStray: () => void parts().context.counters.strayAnswers++,
    onUnsent: () => void parts().context.counters.unsentToAgents++,
    onRemark: (text, level) => parts().context.report(text, level),
    onReady(agent, handshake) {
      reported.delete(agent.name);
      onStateChange();
      parts().context.activity?.agentReady(agent.id);
      cacheHandshake(parts(), agent, handshake);
    },
    onDown(agent, error, crashLoop) {
      const proxy = parts();
      const { report } = proxy.context;
      // A missing command fails with each request, always with the same message.
      if (!proxy.pool.isClosed && reported.get(agent.name) !== error.message) report(error.message);
      reported.set(agent.name, error.message);
      if (crashLoop) report(crashLoop.message);
      onStateChange();
      loseSessions(proxy, agent);
      proxy.requests.endOfConnection(agent);
    },
  };
}

export function createPoolEvents(
  parts: () => Parts<'context' | 'pool' | 'registry' | 'client' | 'requests'>,
  create: (spec: AgentSpec, id: string, sibling: Agent | undefined) => Agent,
  containing: Pick<PoolEvents, 'isContained' | 'layerFor'>,
): PoolEvents {
  return {
    create,
    ...containing,
    released({ layer }) {
      if (layer !== undefined)
        void parts()
          .context.review?.release(layer)
          .catch(() => {});
    },
    cancelTurns(agent) {
      for (const session of agent.sessions.values()) if (session.turns.size > 0) cancelTurns(parts(), session);
    },
    ending: (agent) => loseSessions(parts(), agent),
    endingUnused: (agent) => forgetSessions(parts(), agent),
    ended: (agent) => parts().requests.endOfConnection(agent),
    replaced() {
      const proxy = parts();
      if (proxy.pool.single) return;
      for (const session of proxy.registry.all()) if (!session.agentLocked && !session.isDiscovered) announceOptions(proxy, session);
    },
  };
}

/** A contained agent has one session. Without a policy only listed hosts are allowed. Refused hosts are reported once. */
export function createHostDecision(parts: () => Parts<'context'>): NonNullable<AgentDeps['decideHost']> {
  const reported = new Set<string>();
  return async (agent, host, port, isListed, signal) => {
    const proxy = parts();
    const { enforcement, report } = proxy.context;
    const all = [...agent.sessions.values()];
    const session = all.find(({ isDiscovered }) => !isDiscovered) ?? all[0];
    const unlisted = isListed ? undefined : 'the host is not in the list of this sandbox (sandbox.hosts)';
    const refused = enforcement ? await enforcement.networkConnection(agent, session, { host, port, isListed }, signal) : unlisted;
    if (refused === undefined || reported.has(`${agent.name} ${host}`)) return refused;
    reported.add(`${agent.name} ${host}`);
    report(`the sandbox refused agent "${agent.name}" a connection to ${host}:${port}: ${refused}`);
    return refused;
  };
}

/** Sessions that only the agent has named end with the process that named them. */
function forgetSessions(proxy: Parts<'context' | 'registry' | 'client' | 'requests'>, agent: Agent): void {
  for (const discovered of agent.sessions.values()) {
    endOpenWork(proxy, discovered);
    proxy.registry.forgetDiscovered(discovered);
  }
  agent.sessions.processEnded();
}

/** The effects of the end of a session, and of two sessions that turn out to be one. */
export function createRegistryDeps(parts: () => Parts<'context' | 'pool' | 'requests'>): RegistryDeps {
  return {
    pool: () => parts().pool,
    stored: (publicId) => parts().context.log.records().get(publicId),
    isUsed: (publicId) => parts().context.log.isUsed(publicId),
    recordApart(publicId, { name }) {
      const { log, transcripts } = parts().context;
      const own = [...log.records().values()].findLast((one) => one.agent === name && one.nativeId === publicId);
      const recordId = own?.sessionId ?? aliasFor(publicId, name, log.isUsed);
      transcripts?.recordAs(publicId, recordId);
      return recordId;
    },
    isAskedUnder: (publicId) => parts().requests.isAskedIn(publicId),
    moveRequests(from, to) {
      const { requests, context } = parts();
      requests.takeOver(from, to);
      context.enforcement?.takeOver(from, to);
    },
    isWaiting: (session) => parts().requests.isWaiting(session),
    ended(session) {
      const { workspace, enforcement, always } = parts().context;
      workspace?.endOf(session);
      revokeAttachment(session);
      enforcement?.ended(session);
      always?.store?.ended(session);
    },
  };
}

export function createEnforcementHost(parts: () => Parts<'context' | 'pool' | 'client' | 'requests'>): EnforcementHost {
  return {
    get clock() {
      return parts().context.clock;
    },
    get requests() {
      return parts().requests;
    },
    singleAgent: () => parts().pool.single,
    report: (text) => parts().context.report(text),
    warn: (session, title, text) => notifyInSession(parts(), session, 'warning', title, text),
    showsNotices: () => showsNotices(parts()),
    update: (sessionId, update) => parts().client.line(updateLine(sessionId, JSON.stringify(update))),
    skipLine: (agent, reason) => skipLine(parts().context, agent.name, reason),
    cancelTurns: (session) => cancelTurns(parts(), session),
    cutOff(session) {
      parts().requests.endOf(session);
      revokeAttachment(session);
    },
    closeAt,
  };
}
