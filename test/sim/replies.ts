// How a simulated agent reacts to frames: responses after a while, turns with updates and requests, and its share of faults.
import { initializeResult, listResult, openedResult, openSession, optionsOf } from './agent-model.ts';
import { createQuestions } from './agent-requests.ts';
import { toolServerOf } from './host-tools.ts';
import type { AgentSession } from './ledger.ts';
import type { Body, Sim } from './sim.ts';
import type { Heard, Job, Run } from './sim-agent.ts';
import { sayUpdate } from './updates.ts';

export type Replies = {
  hear(heard: Heard): void;
  /** Unsolicited frames. */
  chat(): void;
};

type Outcome = { readonly result: Body } | { readonly error: { readonly code: number; readonly message: string } };

const modeIn = (said: Outcome): unknown => ('result' in said ? (said.result.modes as Body | undefined)?.currentModeId : undefined);

const NO_SESSION: Outcome = { error: { code: -32002, message: 'there is no such session' } };

export function createReplies(sim: Sim, run: Run): Replies {
  const { random, faults, ledger, clock } = sim;
  const { model, mouth, jobs } = run;
  const questions = createQuestions(sim, run);

  function job(session: AgentSession | undefined, step: (self: Job) => boolean): Job {
    const self: Job = {
      session,
      dueMs: clock.nowMs + (faults.happens('slow answer') ? random.int(1000, 20_000) : 0),
      waitsFor: undefined,
      isMute: faults.happens('no answer'),
      isCancelled: false,
      step: () => step(self),
    };
    jobs.push(self);
    return self;
  }

  /** Sends the response, well or badly; false when it got lost on the way and is still owed. */
  function answer(
    heard: Heard,
    outcome: Outcome,
    about: { session?: AgentSession | undefined; isPatched?: boolean; isOpening?: boolean; isBack?: boolean } = {},
  ): boolean {
    const isFault = 'result' in outcome && faults.happens('error answer');
    const code = random.pick([-32603, -32000]);
    const said: Outcome = isFault ? { error: { code, message: 'it did not work' } } : outcome;
    const isPatched = about.isPatched === true || ('error' in said && said.error.code === -32000);
    const opened = 'result' in said && typeof said.result.sessionId === 'string';
    const saying = {
      kind: 'answer' as const,
      as: 'result' in said ? ('result' as const) : ('error' as const),
      body: 'result' in said ? said.result : said.error,
      id: heard.idText as string,
      session: about.session,
      isOrdered: heard.client !== undefined && !about.isOpening,
      answerTo: heard.client,
      about: {
        isPatched,
        opened,
        change: heard.change,
        modeId: modeIn(said),
        backSince: about.isBack && 'result' in said ? heard.writtenIn : undefined,
      },
      fate: heard.client === undefined || isMiss(heard, said) ? ('may' as const) : ('must' as const),
    };
    const { came } = mouth.say(saying);
    if (came === 'lost') return false;
    if (faults.happens('answers twice')) mouth.say({ ...saying, isOrdered: false, fate: 'never', isPlain: true });
    if (faults.happens('answers unknown id'))
      mouth.say({ ...saying, isOrdered: false, id: String(random.int(70_000, 80_000)), fate: 'never', isPlain: true });
    return true;
  }
  /** The proxy may continue with another agent. */
  const isMiss = ({ message }: Heard, outcome: Outcome): boolean =>
    sim.agents.length > 1 && 'error' in outcome && (message.method === 'session/load' || message.method === 'session/resume');
  /** A job that only responds. */
  function reply(heard: Heard, outcome: () => Outcome, about: Parameters<typeof answer>[2] = {}): void {
    job(about.session, (self) => {
      if (answer(heard, outcome(), about)) return true;
      self.isMute = true;
      return false;
    });
  }

  /** Opens a session, sometimes with updates before the response that names it. */
  function open(heard: Heard, lineage: number, cwd: string, isDelegation = false): void {
    let session: AgentSession | undefined;
    let early = faults.happens('early update') ? random.int(1, 3) : 0;
    job(undefined, (self) => {
      session ??= openSession(model, ledger, lineage, cwd, isDelegation);
      run.open.add(session);
      takeLent(session, heard);
      if (early-- > 0) {
        if (random.chance(0.2)) questions.ask(session);
        else sayUpdate(sim, run, session);
        return false;
      }
      const body = { sessionId: session.native, ...openedResult(model, session) };
      if (!answer(heard, { result: body }, { session, isPatched: true, isOpening: true })) {
        self.isMute = true;
        return false;
      }
      if (random.chance(0.5)) job(session, () => sayUpdate(sim, run, session as AgentSession, 'available_commands_update'));
      return true;
    });
  }

  /** A reopened session has another server than before. */
  function takeLent(session: AgentSession, { message: { params = {} } }: Heard): void {
    const serverId = toolServerOf(params);
    if (serverId === undefined || run.lent.all.has(serverId)) return;
    const before = run.lent.bySession.get(session);
    if (before !== undefined) run.lent.before.set(session, before);
    run.lent.bySession.set(session, serverId);
    run.lent.all.add(serverId);
    sim.lent?.servers.push(serverId);
  }

  function prompt(heard: Heard, session: AgentSession): void {
    if (heard.client === undefined) faults.count('one agent asks another');
    session.turns++;
    let steps = random.int(0, 7);
    job(session, (self) => {
      if (!self.isCancelled && steps-- > 0) {
        turnStep(self, session, heard);
        return false;
      }
      const stopReason = self.isCancelled ? 'cancelled' : 'end_turn';
      if (self.isCancelled && random.chance(0.3)) sayUpdate(sim, run, session);
      if (answer(heard, { result: { stopReason } }, { session })) return true;
      self.isMute = true;
      return false;
    });
  }
  function turnStep(self: Job, session: AgentSession, heard: Heard): void {
    if (faults.happens('flood')) {
      for (let left = random.int(10, 40); left > 0; left--) sayUpdate(sim, run, session, 'agent_message_chunk', random.int(50, 500));
      return;
    }
    if (faults.happens('many questions')) {
      for (let left = 40; left > 0; left--) questions.ask(session, heard, 'session/request_permission');
      return;
    }
    if (faults.happens('many broken lines')) for (let left = 120; left > 0; left--) mouth.noise();
    if (faults.happens('session of its own')) return ownSession();
    const isBusy = sim.lent?.random.chance(sim.lent.rates.calls) === true;
    if (random.chance(0.6) && !isBusy) return void sayUpdate(sim, run, session);
    const asked = questions.ask(session, heard);
    if (asked && random.chance(0.8)) self.waitsFor = asked;
  }
  function ownSession(): void {
    const session = openSession(model, ledger, ledger.newLineage(), '/own');
    run.open.add(session);
    job(session, () => {
      if (random.chance(0.3)) questions.ask(session);
      else sayUpdate(sim, run, session);
      return random.chance(0.3);
    });
  }

  function load(heard: Heard, session: AgentSession, method: string): void {
    const isReplayWanted = heard.client !== undefined && ledger.clientFrame(heard.client)?.method === 'session/load';
    let replays = method === 'session/load' ? random.int(0, 4) : 0;
    run.open.add(session);
    takeLent(session, heard);
    job(session, (self) => {
      if (replays-- > 0) {
        sayUpdate(sim, run, session, 'user_message_chunk', 10, isReplayWanted ? undefined : heard);
        return false;
      }
      if (answer(heard, { result: openedResult(model, session) }, { session, isPatched: true, isBack: true })) return true;
      self.isMute = true;
      return false;
    });
  }

  function request(heard: Heard): void {
    const { method, params = {} } = heard.message;
    if (method === 'initialize') return initialize(heard);
    const opens = heard.client === undefined ? undefined : ledger.clientFrame(heard.client)?.opens;
    const isDelegation = heard.client === undefined && heard.change === undefined;
    if (method === 'session/new') return open(heard, lineageOf(params), String(params.cwd), isDelegation);
    if (method === 'session/list') return reply(heard, () => ({ result: listResult(model, params.cursor) }));
    if (method === 'logout') return reply(heard, () => ({ result: {} }));
    if (method === 'auth/status') return reply(heard, () => ({ result: { state: 'authenticated' } }));
    if (typeof params.sessionId !== 'string') return reply(heard, () => ({ result: {} }));
    const known = model.sessions.get(params.sessionId);
    const isForgotten = known !== undefined && model.traits.forgets && !run.open.has(known);
    const session = known?.isDeleted || isForgotten ? undefined : known;
    if (!session) return reply(heard, () => NO_SESSION);
    if (method === 'session/load' || method === 'session/resume') return load(heard, session, method);
    if (!run.open.has(session)) {
      if (heard.client !== undefined) sim.oracle.notOpenHere(run, session, heard.client);
      return reply(heard, () => NO_SESSION, { session });
    }
    switch (method) {
      case 'session/prompt':
        return prompt(heard, session);
      case 'session/fork':
        return open(heard, opens ?? ledger.newLineage(), session.cwd);
      case 'session/close':
        if (!faults.happens('ignores close')) cancel(session);
        return reply(heard, () => ({ result: {} }), { session });
      case 'session/delete':
        session.isDeleted = true;
        cancel(session);
        return reply(heard, () => ({ result: {} }), { session });
      case 'session/set_mode':
        session.mode = String(params.modeId);
        return reply(heard, () => ({ result: {} }), { session });
      case 'session/set_config_option':
        return reply(heard, () => ({ result: { configOptions: optionsOf(model.traits) } }), { session, isPatched: true });
      default:
        return reply(heard, () => ({ result: { echo: params.word ?? null } }), { session });
    }
  }
  /**
   * The proxy keeps the params of a session/new and uses them again, so the number in them says which session is meant, whoever sends it.
   */
  function lineageOf(params: Body): number {
    const meta = params._meta as { sim?: unknown } | undefined;
    return ledger.clientFrame(meta?.sim)?.opens ?? ledger.newLineage();
  }

  function initialize(heard: Heard): void {
    if (faults.happens('silent at initialize')) return;
    const say = (as: 'result' | 'error', body: Body) =>
      mouth.say({ kind: 'answer', as, body, id: heard.idText as string, fate: 'may', isPlain: true, isUnmarked: true });
    job(undefined, () => {
      if (faults.happens('refuses initialize')) say('error', { code: -32603, message: 'not today' });
      else if (faults.happens('wrong protocol version')) say('result', initializeResult(model, 2));
      else {
        say('result', initializeResult(model, 1));
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
  function notification({ message }: Heard): void {
    const session = model.sessions.get(String(message.params?.sessionId));
    if (message.method === 'session/cancel' && session && !faults.happens('ignores cancel')) cancel(session);
  }

  return {
    hear(heard) {
      const { message } = heard;
      if (message.method === undefined) questions.answered(heard);
      else if (heard.idText === undefined) notification(heard);
      else request(heard);
    },
    chat() {
      if (random.chance(0.4)) mouth.say({ kind: 'notification', as: 'params', method: '_sim/hello', body: {}, isOrdered: true });
      if (random.chance(0.4)) questions.ask(undefined);
      if (random.chance(0.4)) ownSession();
    },
  };
}
