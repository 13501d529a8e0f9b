// What the simulated client does next.
import type { Sim } from './sim.ts';
import type { ClientSession, SimClient } from './sim-client.ts';

export type ClientActions = {
  initialize(): void;
  /** One random action. */
  step(): void;
  /** Sends the answers that are due; `all` also those it would have sent later. */
  answer(all: boolean): boolean;
  cancel(session: ClientSession): void;
};

type Step = () => void;

export function createClientActions(sim: Sim, client: SimClient): ClientActions {
  const { random, faults, clock, limits, ledger } = sim;
  const { send } = client;
  const isSingleAgent = sim.agents.length === 1;
  let isBegun = false;

  /** After a close or a delete its id may already belong to another. */
  const named = ({ publicId, lineage, isEnding }: ClientSession) => ({ publicId, lineage: isEnding ? undefined : lineage });
  const openOnes = () => client.sessions.filter(({ isClosed }) => !isClosed);
  const request = (method: string, rest: Omit<Parameters<typeof send>[0], 'kind' | 'method'> = {}) =>
    send({ kind: 'request', method, id: client.nextId(), ...rest });
  const onSession = (method: string, session: ClientSession, body: Record<string, unknown> = {}, about = {}) =>
    request(method, { ...named(session), body, about });

  function newSession(): void {
    const agent = random.chance(0.6) ? random.pick(sim.agents) : undefined;
    const isUnusual = !isSingleAgent && random.chance(0.05);
    request('session/new', {
      opens: ledger.newLineage(),
      body: {
        cwd: isUnusual && random.chance(0.5) ? 'relative' : random.pick(['/w/a', '/w/a', '/w/routed/b']),
        mcpServers: random.chance(0.8) ? [{ type: 'acp', name: 'tools', serverId: 'tools' }] : [],
        ...(agent !== undefined && { _meta: { 'acp-switchboard': { agent: isUnusual ? 'nobody' : agent } } }),
      },
      about: { ...(agent !== undefined && !isSingleAgent && !isUnusual && { agent }) },
    });
  }
  function prompt(session: ClientSession, bytes?: number): void {
    session.isStarted = true;
    const size = random.weighted([
      [6, 5],
      [2, 200],
      [1, 1800],
    ]);
    const text = 'w'.repeat(bytes ?? size);
    const hasResource = random.chance(0.1);
    const blocks = [{ type: 'text', text }, ...(hasResource ? [{ type: 'resource', resource: { uri: 'file:///a', text: 'a' } }] : [])];
    onSession('session/prompt', session, { prompt: blocks }, { isTurn: true, isPatched: hasResource });
  }
  function changeAgent(session: ClientSession): void {
    if (isSingleAgent || session.isEnding) return prompt(session);
    const agent = random.chance(0.05) ? 'nobody' : random.pick(sim.agents);
    faults.count('change of agent');
    if (random.chance(0.05)) return void onSession('session/prompt', session, { prompt: [{ type: 'text', text: '/agent' }] });
    if (random.chance(0.3))
      onSession('session/prompt', session, { prompt: [{ type: 'text', text: `/agent ${agent}` }] }, { changesTo: agent });
    else onSession('session/set_config_option', session, { configId: session.agentOption, value: agent }, { changesTo: agent });
  }
  function cancel(session: ClientSession): void {
    send({ kind: 'notification', method: 'session/cancel', ...named(session) });
  }
  /** Uses a session that the client has not open: from a list, from earlier, or invented. */
  function load(): void {
    const closed = client.sessions.filter(({ isClosed }) => isClosed).map(({ publicId }) => publicId);
    const old = sim.agents.flatMap((agent) => ['s1', 's2', `${agent}-s1`].filter((native) => ledger.sessionAt(agent, native)));
    const publicId = random.pick([...client.listed, ...closed, ...old, 'nowhere', 'orphan']);
    if (client.sessions.some((session) => session.publicId === publicId && !session.isClosed)) return newSession();
    const cwd = random.chance(0.05) ? 'relative' : '/w/a';
    request(random.pick(['session/load', 'session/resume']), { publicId, body: { cwd, mcpServers: [] } });
  }
  function reload(session: ClientSession): void {
    onSession(random.pick(['session/load', 'session/resume']), session, { cwd: '/w/a', mcpServers: [] });
  }
  function takeBack(): void {
    const isPlain = (idText = 'null') =>
      idText !== 'null' &&
      JSON.stringify(JSON.parse(idText)) === idText &&
      ledger.clientFrames.filter((frame) => frame.idText === idText).length === 1;
    const [taken] = [...client.waiting].filter(({ method, idText }) => method !== 'initialize' && isPlain(idText) && random.chance(0.5));
    if (!taken) return;
    send({
      kind: 'notification',
      method: '$/cancel_request',
      body: { requestId: JSON.parse(taken.idText as string) },
      about: { isPatched: true, takesBack: taken.serial },
    });
  }
  function progress(): void {
    const pending = client.requests.find(({ frame }) => frame.method === 'mcp/message');
    if (!pending) return;
    // Under the name that the client was given.
    const publicName = sim.oracle.seen.mcpNames.get(pending.frame.serial);
    send({
      kind: 'notification',
      method: 'mcp/message',
      body: { serverId: 'tools', requestId: publicName, message: {} },
      about: { isPatched: true, progressOf: pending.frame.serial },
      fate: 'may',
    });
  }

  const NOISE: readonly (readonly [text: string, owesNull: boolean])[] = [
    ['not json', true],
    ['{"jsonrpc":"2.0","method":', true],
    ['[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', true],
    ['42', true],
    ['   ', false],
  ];
  function mistake(session: ClientSession | undefined): boolean {
    if (faults.happens('client: broken line') || faults.happens('client: batch')) {
      const [text, owesNull] = random.pick(NOISE);
      send({ kind: 'noise', about: { owesNull }, fate: 'never', spoilt: () => Buffer.from(text) });
      return true;
    }
    const target = session && named(session);
    if (faults.happens('client: oversized line')) {
      const spoilt = (line: string) => Buffer.from(line.replace('"pad":""', `"pad":"${'x'.repeat(limits.maxFrameBytes + 100)}"`));
      if (random.chance(0.7))
        request('session/prompt', {
          ...target,
          id: `"long${clock.nowMs}-${random.int(0, 1e9)}"`,
          body: { pad: '' },
          fate: 'never',
          spoilt,
        });
      else
        send({ kind: 'notification', method: '_sim/note', ...target, body: { pad: '' }, fate: 'never', about: { owesNull: true }, spoilt });
      return true;
    }
    if (faults.happens('client: duplicate keys')) {
      request('session/prompt', { ...target, fate: 'never', spoilt: (line) => Buffer.from(`{"params":{},${line.slice(1)}`) });
      return true;
    }
    if (faults.happens('client: duplicate keys within')) {
      // Where the proxy evaluates the params itself this is refused; elsewhere it is up to the agent.
      const method = random.pick(['session/new', 'session/list', 'session/set_config_option', 'session/set_mode', 'session/load']);
      const spoilt = (line: string) => Buffer.from(line.replace('"twice":1', '"twice":1,"twice":2'));
      const opens = method === 'session/new' ? { opens: ledger.newLineage() } : target;
      request(method, { ...opens, body: { cwd: '/w/a', twice: 1 }, about: { isPatched: true }, fate: 'may', spoilt });
      return true;
    }
    if (faults.happens('client: no sessionId')) {
      request(random.pick(['session/prompt', 'session/close', 'session/load']));
      return true;
    }
    if (session && faults.happens('client: many prompts')) {
      for (let left = random.int(4, 10); left > 0; left--) prompt(session, 2000);
      return true;
    }
    if (faults.happens('client: duplicate id')) {
      const [first] = [...client.waiting].filter(({ method, idText }) => method !== 'initialize' && idText !== 'null');
      if (first) send({ kind: 'request', method: '_sim/again', id: first.idText as string, ...target });
      return true;
    }
    if (faults.happens('client: id null')) {
      send({ kind: 'request', method: 'session/list', id: 'null', body: { cwd: '/none' } });
      return true;
    }
    if (faults.happens('client: unknown session')) {
      request(random.pick(['session/prompt', 'session/set_mode', '_sim/do']), { publicId: `nowhere${random.int(1, 3)}` });
      return true;
    }
    if (faults.happens('client: unknown method')) {
      if (random.chance(0.5))
        request(random.pick(['_sim/do', '_other/do', 'no/such']), { ...(random.chance(0.6) && target), body: { word: 'x' } });
      else send({ kind: 'notification', method: '_sim/note', ...(random.chance(0.6) && target), fate: 'may' });
      return true;
    }
    return false;
  }

  function choose(): Step {
    const sessions = openOnes();
    if (sessions.length === 0) return random.chance(0.7) ? newSession : random.pick<Step>([load, list]);
    const session = random.pick(sessions);
    const isBusy = [...client.waiting].some(({ method, publicId }) => method === 'session/prompt' && publicId === session.publicId);
    return random.weighted<Step>([
      [sessions.length < 5 ? 3 : 0.5, newSession],
      [isBusy ? 1 : 8, () => prompt(session)],
      [isBusy ? 3 : 0.5, () => cancel(session)],
      [session.isStarted ? 0.3 : 2, () => changeAgent(session)],
      [1, () => void onSession('session/set_mode', session, { modeId: random.pick(['ask', 'code']) })],
      [
        1,
        () =>
          void onSession(
            'session/set_config_option',
            session,
            { configId: random.pick(['effort', 'mode', 'model']), value: 'low' },
            { isPatched: true },
          ),
      ],
      [0.7, () => end('session/close', session)],
      [0.3, () => end('session/delete', session)],
      [0.6, () => fork(session)],
      [0.5, () => reload(session)],
      [0.7, load],
      [0.8, list],
      [0.3, () => void request('authenticate', { body: { methodId: `${random.pick(sim.agents)}/key` }, about: { isPatched: true } })],
      [0.2, () => void request(random.pick(['logout', 'auth/status']))],
      [faults.happens('client: cancels request') ? 3 : 0, takeBack],
      [client.requests.some(({ frame }) => frame.method === 'mcp/message') ? 4 : 0, progress],
    ]);
  }
  function end(method: string, session: ClientSession): void {
    session.endedBy = onSession(method, session).serial;
    session.isEnding = true;
  }
  function list(): void {
    const cursor = random.chance(0.5) ? client.cursor : random.chance(0.1) ? 'nonsense' : undefined;
    request('session/list', { body: cursor === undefined ? {} : { cursor } });
  }
  function fork(session: ClientSession): void {
    request('session/fork', { ...named(session), opens: ledger.newLineage(), body: { cwd: '/w/a' } });
  }

  function answerOne(index: number): void {
    const { idText, frame, isStandIn } = client.requests[index] as (typeof client.requests)[number];
    client.requests.splice(index, 1);
    const answer = { kind: 'answer' as const, id: idText, answerTo: frame.serial, about: { isStandIn } };
    if (faults.happens('client: answers with an error'))
      return void send({ ...answer, as: 'error', body: { code: -32603, message: 'no' } });
    if (faults.happens('client: unclear answer'))
      return void send({ ...answer, as: 'result', fate: 'never', spoilt: () => Buffer.from(`{"jsonrpc":"2.0","id":${idText}}`) });
    if (faults.happens('client: oversized answer')) {
      const spoilt = (line: string) => Buffer.from(line.replace('"pad":""', `"pad":"${'x'.repeat(limits.maxFrameBytes + 100)}"`));
      return void send({ ...answer, as: 'result', body: { pad: '' }, fate: 'never', spoilt });
    }
    if (faults.happens('client: broken answer'))
      return void send({
        ...answer,
        as: 'result',
        fate: 'never',
        about: { isUnheard: true, owesNull: true, isStandIn },
        spoilt: (line) => Buffer.from(line.slice(0, -1)),
      });
    if (faults.happens('client: answers unknown id'))
      send({ ...answer, id: '99999', as: 'result', fate: 'never', about: { isUnheard: true, isStandIn } });
    const choices = isStandIn ? STAND_IN_CHOICES : sim.policyModel && frame.method === 'session/request_permission' ? CHOICES : undefined;
    if (choices) {
      const optionId = sim.policyModel?.random.pick(choices);
      const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
      return void send({ ...answer, as: 'result', body: { outcome }, about: { isStandIn, optionId } });
    }
    const terminalId = frame.method === 'terminal/create' ? `t${sim.terminals.length + 1}` : undefined;
    if (terminalId !== undefined) sim.terminals.push(terminalId);
    const well = { ...answer, as: 'result' as const, body: bodyOf(frame.method as string, terminalId), about: { terminalId } };
    send(well);
    if (faults.happens('client: answers twice')) send(well);
  }

  return {
    initialize() {
      isBegun = true;
      const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
      request('initialize', { body: { protocolVersion: 1, clientCapabilities } });
    },
    step() {
      if (!isBegun) {
        if (faults.happens('client: too early')) return newSession();
        return this.initialize();
      }
      if (!client.isInitialized && !faults.happens('client: too early')) return;
      if (faults.happens('client: stops reading')) client.isReading = false;
      else if (!client.isReading && random.chance(0.3)) client.isReading = true;
      const sessions = openOnes();
      if (!mistake(sessions.length > 0 ? random.pick(sessions) : undefined)) choose()();
    },
    answer(all) {
      const due = client.requests.findIndex(({ dueMs, isNever }) => all || (!isNever && dueMs <= clock.nowMs));
      if (due === -1) return false;
      answerOne(due);
      return true;
    },
    cancel,
  };
}

/** What a client may choose under a policy; undefined is a cancel. */
const CHOICES = ['yes', 'yes', 'always', 'no', 'nonsense', undefined] as const;
const STAND_IN_CHOICES = ['allow', 'allow', 'allow-always', 'reject', 'reject-always', 'nonsense', undefined] as const;

function bodyOf(method: string, terminalId: string | undefined): Record<string, unknown> {
  if (method === 'session/request_permission') return { outcome: { outcome: 'selected', optionId: 'yes' } };
  if (method === 'elicitation/create') return { action: 'accept', content: {} };
  if (terminalId !== undefined) return { terminalId };
  return { content: 'x' };
}
