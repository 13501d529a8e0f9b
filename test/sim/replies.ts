// How a simulated agent reacts to frames: responses after a while, turns with updates and requests, and its share of faults.
import { initializeResult, listResult, openedResult, openSession, optionsOf } from './agent-model.ts';
import { createAgentRequests } from './agent-requests.ts';
import { toolServerOf } from './host-tools.ts';
import type { AgentSession } from './ledger.ts';
import { isDelegatedElsewhere } from './observations.ts';
import type { Body, Sim } from './sim.ts';
import type { AgentInput, Job, Run } from './sim-agent.ts';
import { sendUpdate } from './updates.ts';

export type Replies = {
  receive(received: AgentInput): void;
  /** Unsolicited frames. */
  chat(): void;
};

type Outcome = { readonly result: Body } | { readonly error: { readonly code: number; readonly message: string } };

const modeIn = (actual: Outcome): unknown => ('result' in actual ? (actual.result.modes as Body | undefined)?.currentModeId : undefined);

const NO_SESSION: Outcome = { error: { code: -32002, message: 'there is no such session' } };

export function createReplies(sim: Sim, run: Run): Replies {
  const { random, faults, ledger, clock } = sim;
  const { model, sender, jobs } = run;
  const requests = createAgentRequests(sim, run);

  function job(session: AgentSession | undefined, step: (self: Job) => boolean): Job {
    const self: Job = {
      session,
      dueMs: clock.nowMs + (faults.happens('slow answer') ? random.int(1000, 20_000) : 0),
      waitsFor: undefined,
      isMute: faults.happens('no answer'),
      isCancelled: false,
      isTurn: false,
      step: () => step(self),
    };
    jobs.push(self);
    return self;
  }

  /** Sends the response, well or badly; false when it got lost on the way and is still owed. */
  function answer(
    received: AgentInput,
    outcome: Outcome,
    about: { session?: AgentSession | undefined; isPatched?: boolean; isOpening?: boolean; isBack?: boolean } = {},
  ): boolean {
    const isFault = 'result' in outcome && faults.happens('error answer');
    const code = random.pick([-32603, -32000]);
    const actual: Outcome = isFault ? { error: { code, message: 'it did not work' } } : outcome;
    const isPatched = about.isPatched === true || ('error' in actual && actual.error.code === -32000);
    const opened = 'result' in actual && typeof actual.result.sessionId === 'string';
    const outgoing = {
      kind: 'answer' as const,
      as: 'result' in actual ? ('result' as const) : ('error' as const),
      body: 'result' in actual ? actual.result : actual.error,
      id: received.idText as string,
      session: about.session,
      isOrdered: received.client !== undefined && !about.isOpening,
      answerTo: received.client,
      about: {
        isPatched,
        opened,
        change: received.change,
        modeId: modeIn(actual),
        backSince: about.isBack && 'result' in actual ? received.writtenIn : undefined,
      },
      fate: received.client === undefined || isMiss(received, actual) ? ('may' as const) : ('must' as const),
    };
    const { came } = sender.send(outgoing);
    if (came === 'lost') return false;
    if (faults.happens('answers twice')) sender.send({ ...outgoing, isOrdered: false, fate: 'never', isPlain: true });
    if (faults.happens('answers unknown id'))
      sender.send({ ...outgoing, isOrdered: false, id: String(random.int(70_000, 80_000)), fate: 'never', isPlain: true });
    return true;
  }
  /** The proxy may continue with another agent. */
  const isMiss = ({ message }: AgentInput, outcome: Outcome): boolean =>
    sim.agents.length > 1 && 'error' in outcome && (message.method === 'session/load' || message.method === 'session/resume');
  /** A job that only responds. */
  function reply(received: AgentInput, outcome: () => Outcome, about: Parameters<typeof answer>[2] = {}): void {
    job(about.session, (self) => {
      if (answer(received, outcome(), about)) return true;
      self.isMute = true;
      return false;
    });
  }

  /** Opens a session, sometimes with updates before the response that names it. */
  function open(received: AgentInput, lineage: number, cwd: string, isDelegation = false): void {
    let session: AgentSession | undefined;
    let early = faults.happens('early update') ? random.int(1, 3) : 0;
    job(undefined, (self) => {
      session ??= openSession(model, ledger, lineage, cwd, isDelegation);
      run.open.add(session);
      takeHostTools(session, received);
      if (early-- > 0) {
        if (random.chance(0.2)) requests.ask(session);
        else sendUpdate(sim, run, session);
        return false;
      }
      const body = { sessionId: session.native, ...openedResult(model, session) };
      if (!answer(received, { result: body }, { session, isPatched: true, isOpening: true })) {
        self.isMute = true;
        return false;
      }
      if (random.chance(0.5)) job(session, () => sendUpdate(sim, run, session as AgentSession, 'available_commands_update'));
      return true;
    });
  }

  /** A reopened session has another server than before. */
  function takeHostTools(session: AgentSession, { message: { params = {} } }: AgentInput): void {
    const serverId = toolServerOf(params);
    if (serverId === undefined || run.hostTools.all.has(serverId)) return;
    const before = run.hostTools.bySession.get(session);
    if (before !== undefined) run.hostTools.before.set(session, before);
    run.hostTools.bySession.set(session, serverId);
    run.hostTools.all.add(serverId);
    if (session.isDelegation) run.hostTools.delegated.add(serverId);
    sim.hostTools?.servers.push(serverId);
  }

  /** Whether a prompt joins a turn of the session. */
  function steered(session: AgentSession): string {
    faults.count('steering');
    const isInTurn = jobs.some((one) => one.isTurn && one.session === session && !one.isCancelled);
    if (!isInTurn) return 'promptRequired';
    return random.pick(['injected', 'injected', 'failed', 'startedNewTurn', 'promptRequired']);
  }
  function prompt(received: AgentInput, session: AgentSession): void {
    if (received.client === undefined) faults.count('delegation');
    session.turns++;
    let steps = random.int(0, 7);
    job(session, (self) => {
      if (!self.isCancelled && steps-- > 0) {
        turnStep(self, session, received);
        return false;
      }
      const stopReason = self.isCancelled ? 'cancelled' : 'end_turn';
      if (self.isCancelled && random.chance(0.3)) sendUpdate(sim, run, session, undefined, 10, { ofTurn: received });
      if (answer(received, { result: { stopReason } }, { session })) return true;
      self.isMute = true;
      return false;
    }).isTurn = true;
  }
  function turnStep(self: Job, session: AgentSession, received: AgentInput): void {
    if (faults.happens('flood')) {
      const bytes = random.int(50, 500);
      for (let left = random.int(10, 40); left > 0; left--) sendUpdate(sim, run, session, 'agent_message_chunk', bytes);
      return;
    }
    if (faults.happens('many requests')) {
      for (let left = 40; left > 0; left--) requests.ask(session, received, 'session/request_permission');
      return;
    }
    if (faults.happens('many broken lines')) for (let left = 120; left > 0; left--) sender.noise();
    if (faults.happens('session of its own')) return ownSession();
    const isBusy = sim.hostTools?.random.chance(sim.hostTools.rates.calls) === true;
    if (random.chance(0.6) && !isBusy) return void sendUpdate(sim, run, session);
    const agentRequest = requests.ask(session, received);
    if (agentRequest && random.chance(0.8)) self.waitsFor = agentRequest;
  }
  function ownSession(): void {
    const session = openSession(model, ledger, ledger.newLineage(), '/own');
    run.open.add(session);
    job(session, () => {
      if (random.chance(0.3)) requests.ask(session);
      else sendUpdate(sim, run, session);
      return random.chance(0.3);
    });
  }

  function load(received: AgentInput, session: AgentSession, method: string): void {
    const isWanted = received.client !== undefined && ledger.clientFrame(received.client)?.method === 'session/load';
    let replays = method === 'session/load' ? random.int(0, 4) : 0;
    run.open.add(session);
    if (received.client !== undefined) ledger.ownedByClient(session);
    takeHostTools(session, received);
    job(session, (self) => {
      if (replays-- > 0) {
        sendUpdate(sim, run, session, 'user_message_chunk', 10, { of: received, isWanted });
        return false;
      }
      if (answer(received, { result: openedResult(model, session) }, { session, isPatched: true, isBack: true })) return true;
      self.isMute = true;
      return false;
    });
  }

  function request(received: AgentInput): void {
    const { method, params = {} } = received.message;
    if (method === 'initialize') return initialize(received);
    const opens = received.client === undefined ? undefined : ledger.clientFrame(received.client)?.opens;
    const isDelegation = received.client === undefined && received.change === undefined;
    if (method === 'session/new') return open(received, lineageOf(received, params), String(params.cwd), isDelegation);
    if (method === 'session/list') return reply(received, () => ({ result: listResult(model, params.cursor) }));
    if (method === 'logout') return reply(received, () => ({ result: {} }));
    if (method === 'auth/status') return reply(received, () => ({ result: { state: 'authenticated' } }));
    if (typeof params.sessionId !== 'string') return reply(received, () => ({ result: {} }));
    const known = model.sessions.get(params.sessionId);
    const isForgotten = known !== undefined && model.traits.forgets && !run.open.has(known);
    const isKept = known !== undefined && isDelegatedElsewhere(sim.oracle.seen, run, known);
    const session = known?.isDeleted || isForgotten || isKept ? undefined : known;
    if (!session) return reply(received, () => NO_SESSION);
    if (method === 'session/load' || method === 'session/resume') return load(received, session, method);
    if (!run.open.has(session)) {
      if (received.client !== undefined) sim.oracle.notOpenHere(run, session, received.client);
      return reply(received, () => NO_SESSION, { session });
    }
    switch (method) {
      case 'session/prompt':
        return prompt(received, session);
      case 'session/fork':
        return open(received, opens ?? ledger.newLineage(), session.cwd);
      case 'session/close':
        if (!faults.happens('ignores close')) cancel(session);
        return reply(received, () => ({ result: {} }), { session });
      case 'session/delete':
        session.isDeleted = true;
        cancel(session);
        return reply(received, () => ({ result: {} }), { session });
      case '_session/steering':
        return reply(received, () => ({ result: { outcome: steered(session) } }), { session });
      case 'session/set_mode':
        session.mode = String(params.modeId);
        return reply(received, () => ({ result: {} }), { session });
      case 'session/set_config_option':
        return reply(received, () => ({ result: { configOptions: optionsOf(model.traits) } }), { session, isPatched: true });
      default:
        return reply(received, () => ({ result: { echo: params.word ?? null } }), { session });
    }
  }
  /**
   * The proxy keeps the params of the request that opened a session and uses them again, so the number in them says which session is
   * meant. After a load, the change of agent says it.
   */
  function lineageOf({ change }: AgentInput, params: Body): number {
    const meta = params._meta as { sim?: unknown } | undefined;
    return ledger.clientFrame(meta?.sim)?.opens ?? ledger.clientFrame(change)?.lineage ?? ledger.newLineage();
  }

  function initialize(received: AgentInput): void {
    if (faults.happens('silent at initialize')) return;
    const send = (as: 'result' | 'error', body: Body) =>
      sender.send({ kind: 'answer', as, body, id: received.idText as string, fate: 'may', isPlain: true, isUnmarked: true });
    job(undefined, () => {
      if (faults.happens('refuses initialize')) send('error', { code: -32603, message: 'not today' });
      else if (faults.happens('wrong protocol version')) send('result', initializeResult(model, 2));
      else {
        send('result', initializeResult(model, 1));
        run.isReady = true;
      }
      return true;
    }).isMute = false;
  }

  function cancel(session: AgentSession): void {
    for (const one of jobs) {
      if (one.session !== session) continue;
      one.isCancelled = true;
      one.isMute = false;
      one.waitsFor = undefined;
      one.dueMs = Math.min(one.dueMs, clock.nowMs + random.pick([0, 0, 100, 5000]));
    }
  }
  function notification({ message }: AgentInput): void {
    const session = model.sessions.get(String(message.params?.sessionId));
    if (message.method === 'session/cancel' && session && !faults.happens('ignores cancel')) cancel(session);
  }

  return {
    receive(received) {
      const { message } = received;
      if (message.method === undefined) requests.answered(received);
      else if (received.idText === undefined) notification(received);
      else request(received);
    },
    chat() {
      if (random.chance(0.4)) sender.send({ kind: 'notification', as: 'params', method: '_sim/hello', body: {}, isOrdered: true });
      if (random.chance(0.4)) requests.ask(undefined);
      if (random.chance(0.4)) ownSession();
    },
  };
}
