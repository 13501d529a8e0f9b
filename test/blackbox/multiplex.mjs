// Several agents behind one connection: choosing, routing, clashing ids, lists, a new process, authentication, order.
import path from 'node:path';
import { createReport, eventually, must, same, sleep, text, textOf } from './peer.mjs';
import { choose, hello, open, PLAIN, prompt, scratch, scripted, startProxy, who, withProxy } from './proxy.mjs';

const report = createReport('multiplex');
const dir = scratch();
const cwd = path.join(dir, 'work');
const two = {
  ...PLAIN,
  agent_servers: { one: scripted(dir, 'one', '--fixed-ids'), two: scripted(dir, 'two', '--fixed-ids', '--early') },
  routes: [{ cwd: `${dir}/routed/**`, agent: 'two' }],
};
const yes = () => ({ result: { outcome: { outcome: 'selected', optionId: 'yes' } } });
const asks =
  (sessionId) =>
  ({ msg }) =>
    msg?.method === 'session/request_permission' && msg.params.sessionId === sessionId;
const once = (make) => {
  let made;
  return () => (made ??= make());
};
// The first two sessions, one per agent: both agents call theirs s1.
const opened = (agent) =>
  once(async () => {
    const s = await open(peer, cwd, agent);
    return { ...s, who: await who(peer, s.id) };
  });
const first = opened();
const second = opened('two');

const peer = startProxy(dir, two);
peer.on('session/request_permission', yes);
const init = await hello(peer).catch((error) => error);
await report.check('initialize answers for both', () => {
  if (init instanceof Error) throw init;
  same(
    [init.protocolVersion, init.agentCapabilities?.loadSession, init.agentCapabilities?.promptCapabilities?.embeddedContext],
    [1, true, true],
    'protocolVersion, loadSession, embeddedContext',
  );
});
if (init instanceof Error) report.giveUp();
await report.check('the first listed agent is the default', async () => same((await first()).who.name, 'one', 'agent'));
await report.check('_meta picks the agent', async () => same((await second()).who.name, 'two', 'agent'));
await report.check("the first keeps the agent's own session id, a second equal one gets another", async () => {
  const [a, b] = [await first(), await second()];
  must(a.id !== b.id, `both sessions are called ${a.id}`);
  same([a.id, a.who.native, b.who.native], ['s1', 's1', 's1'], 'public id of the first, native ids');
});
await report.check('a route picks the agent by cwd, and cwd is kept per session', async () => {
  const c = await open(peer, `${dir}/routed/x`);
  const w = await who(peer, c.id);
  same([w.name, w.cwd], ['two', `${dir}/routed/x`], 'agent, cwd');
});
await report.check('_meta goes before a route', async () =>
  same((await who(peer, (await open(peer, `${dir}/routed/x`, 'one')).id)).name, 'one', 'agent'),
);
await report.check('an unknown agent in _meta is a clear error', async () => {
  const r = await peer.request('session/new', { cwd, mcpServers: [], ...choose('nobody') });
  must(r.msg.error && /nobody/.test(JSON.stringify(r.msg.error)), JSON.stringify(r.msg));
});
await report.check('updates sent before the session/new answer arrive after it', async () => {
  const s = await open(peer, cwd, 'two');
  const early = await peer.until(
    ({ msg }) => msg?.params?.sessionId === s.id && msg.params.update?.availableCommands?.some((x) => x.name === 'early'),
    3000,
  );
  must(early, 'never arrived under the public id');
  must(peer.state.lines.indexOf(early) > s.answer.index, 'arrived before the answer');
});
await report.check('the agent option comes first, offers both, and rebinds before the first prompt', async () => {
  const s = await open(peer, cwd);
  const option = s.result.configOptions?.[0];
  same(
    [option?.id, option?.type, option?.category, option?.currentValue, option?.options?.map((o) => o.value)],
    ['agent', 'select', '_agent', 'one', ['one', 'two']],
    'option',
  );
  const set = await peer.request('session/set_config_option', { sessionId: s.id, configId: 'agent', value: 'two' });
  same(set.msg.result?.configOptions?.[0]?.currentValue, 'two', `value after set (${JSON.stringify(set.msg).slice(0, 120)})`);
  must(
    set.msg.result.configOptions.some((o) => o.id === 'model'),
    "the agent's own options are missing",
  );
  same((await who(peer, s.id)).name, 'two', 'agent');
  const again = await peer.request('session/set_config_option', { sessionId: s.id, configId: 'agent', value: 'one' });
  must(again.msg.error, `a started session changed its agent: ${JSON.stringify(again.msg)}`);
  const model = await peer.request('session/set_config_option', { sessionId: s.id, configId: 'model', value: 'm2' });
  must(
    model.msg.result?.configOptions?.some((o) => o.id === 'agent'),
    `the agent option is gone after setting another: ${JSON.stringify(model.msg)}`,
  );
  same((await who(peer, s.id)).model, 'm2', 'model');
});
await report.check('request ids of any shape come back as sent', async () => {
  const { id: sessionId } = await first();
  for (const id of ['abc', 0, -7, 9007199254740991, 'a"\\é', '', '1']) {
    const r = await peer.request('_probe/agentExt', { sessionId, k: 1 }, { id, timeoutMs: 4000 });
    must(r.msg.result?.by === 'one', `id ${JSON.stringify(id)}: ${JSON.stringify(r.msg)}`);
  }
  peer.raw(`{"jsonrpc":"2.0","id":9007199254740993123,"method":"_probe/agentExt","params":{"sessionId":${JSON.stringify(sessionId)}}}`);
  must(await peer.until(({ line }) => /"id"\s*:\s*9007199254740993123\b/.test(line), 4000), 'a big integer id was changed');
});
await report.check('the same id in use in both directions and on two agents at once', async () => {
  const [x, y] = [await open(peer, cwd, 'one'), await open(peer, cwd, 'two')];
  const waiting = [];
  peer.on('session/request_permission', (m) => new Promise((answer) => waiting.push({ m, answer })));
  const turns = [x, y].map((s) => prompt(peer, s.id, 'permit execute {"command":"ls"}'));
  must(await eventually(() => waiting.length === 2, 5000), 'two questions did not arrive');
  must(waiting[0].m.id !== waiting[1].m.id, `both agents' questions have the id ${JSON.stringify(waiting[0].m.id)}`);
  const extra = await peer.request('_probe/agentExt', { sessionId: x.id }, { id: waiting[0].m.id, timeoutMs: 4000 });
  same(extra.msg.result?.by, 'one', 'a request with the id of an open question');
  for (const { m, answer } of waiting.reverse())
    answer({ result: { outcome: { outcome: 'selected', optionId: m.params.sessionId === x.id ? 'yes' : 'no' } } });
  await Promise.all(turns);
  same(
    [x, y].map((s) => textOf(peer.updates(s.id)).match(/"optionId":"(\w+)"/)?.[1]),
    ['yes', 'no'],
    'answers',
  );
  peer.on('session/request_permission', yes);
});
await report.check('eight sessions at once, every frame to its owner, in order', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => open(peer, cwd, i % 2 ? 'two' : 'one')));
  must(new Set(all.map((s) => s.id)).size === 8, 'two sessions share an id');
  const results = await Promise.all(
    all.map((s, i) => prompt(peer, s.id, i === 3 ? 'permit execute {"command":"ls"}' : 'chunks 400', 30000)),
  );
  all.forEach((s, i) => {
    must(results[i].msg.result?.stopReason === 'end_turn', JSON.stringify(results[i].msg));
    if (i !== 3) same(textOf(peer.updates(s.id)), Array.from({ length: 400 }, (_, k) => `${k};`).join(''), `session ${i}`);
    const last = peer.state.lines.findLastIndex(
      ({ msg }) =>
        msg?.method === 'session/update' &&
        msg.params.sessionId === s.id &&
        /^(agent_message_chunk|tool_call)$/.test(msg.params.update.sessionUpdate),
    );
    must(last < results[i].index, `session ${i}: an update after the answer`);
  });
});
await report.check('cancel reaches the right session only; a pending request is answered cancelled, once', async () => {
  let late;
  peer.on(
    'session/request_permission',
    () =>
      new Promise((answer) => {
        late = answer;
      }),
  );
  const [x, y] = [await open(peer, cwd, 'one'), await open(peer, cwd, 'two')];
  const asked = prompt(peer, x.id, 'permit execute {"command":"rm"}');
  const slow = prompt(peer, y.id, 'sleep 700');
  must(await peer.until(asks(x.id)), 'the question did not arrive');
  peer.notify('session/cancel', { sessionId: x.id });
  same([(await asked).msg.result?.stopReason, (await slow).msg.result?.stopReason], ['cancelled', 'end_turn'], 'stop reasons');
  late(yes());
  await sleep(50);
  const { notes } = (await peer.request('_probe/notes', { sessionId: x.id })).msg.result ?? {};
  same(
    notes?.filter((n) => n.stray),
    [],
    'second answers the agent got',
  );
  peer.on('session/request_permission', yes);
});
await report.check("an agent's $/cancel_request names the id the client saw", async () => {
  const s = await open(peer, cwd, 'two');
  peer.on('session/request_permission', async () => {
    await peer.until(({ msg }) => msg?.method === '$/cancel_request', 1500);
    return { result: { outcome: { outcome: 'cancelled' } } };
  });
  await prompt(peer, s.id, 'cancel-own');
  peer.on('session/request_permission', yes);
  const q = peer.state.lines.find(asks(s.id))?.msg;
  const cancel = peer.state.lines.findLast(({ msg }) => msg?.method === '$/cancel_request')?.msg;
  must(q && cancel, `${q ? '$/cancel_request' : 'the question'} did not arrive`);
  same(cancel.params?.requestId, q.id, 'requestId');
});
await report.check("a client's $/cancel_request names the id the agent saw", async () => {
  const s = await open(peer, cwd, 'two');
  const id = 'to-be-cancelled';
  const turn = peer.request('session/prompt', { sessionId: s.id, prompt: text('sleep 600') }, { id });
  peer.notify('$/cancel_request', { requestId: id });
  const { notes } = (await peer.request('_probe/notes', { sessionId: s.id })).msg.result ?? {};
  same(
    notes?.filter((n) => n.method === '$/cancel_request').map((n) => n.names),
    ['a running prompt'],
    'what it names',
  );
  must((await turn).msg.result && peer.answersTo(id) === 1, 'the prompt was not answered once');
});
await report.check('session/list merges all agents, each session once', async () => {
  const r = await peer.request('session/list', { cwd });
  const ids = r.msg.result?.sessions?.map((s) => s.sessionId) ?? [];
  must(
    ids.includes((await first()).id) && ids.includes((await second()).id),
    `${ids.length} listed, without the first session of ${ids.includes((await first()).id) ? 'two' : 'one'}: ${JSON.stringify(r.msg.error ?? ids.slice(0, 8))}`,
  );
  same(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    'listed twice',
  );
});
await report.check('unknown session: -32002; relative cwd: -32602; broken line: -32700; batch: -32600', async () => {
  same((await prompt(peer, 'nope', 'x')).msg.error?.code, -32002, 'unknown session');
  same((await peer.request('session/new', { cwd: 'relative', mcpServers: [] })).msg.error?.code, -32602, 'relative cwd');
  peer.raw('{"jsonrpc": nonsense');
  must(await peer.until(({ msg }) => msg?.error?.code === -32700 && msg.id === null, 3000), 'no -32700');
  peer.raw('[{"jsonrpc":"2.0","id":"in-a-batch","method":"session/list"}]');
  must(await peer.until(({ msg }) => msg?.error?.code === -32600 && msg.id === null, 3000), 'no -32600');
  same((await who(peer, (await first()).id)).name, 'one', 'still serving');
  same(peer.answersTo('in-a-batch'), 0, 'answers to a request in the batch');
});
await Promise.allSettled([first(), second()]);
await peer.stop();
await report.check('a new process routes load and resume to the agent that owns the session', async () =>
  withProxy(dir, two, [], async (p) => {
    const [a, b] = [await first(), await second()];
    await hello(p);
    const load = await p.request('session/load', { sessionId: b.id, cwd, mcpServers: [] });
    must(load.msg.result !== undefined, `load: ${JSON.stringify(load.msg)}`);
    must(textOf(p.updates(b.id)).includes('replayed whoami'), 'replay missing');
    const resume = await p.request('session/resume', { sessionId: a.id, cwd, mcpServers: [] });
    must(resume.msg.result !== undefined, `resume: ${JSON.stringify(resume.msg)}`);
    same([(await who(p, b.id)).name, (await who(p, a.id)).name], ['two', 'one'], 'owners');
  }),
);
await report.check('--agent pins one agent and hides the choice', async () =>
  withProxy(dir, two, ['--agent', 'two'], async (p) => {
    await hello(p);
    const s = await open(p, cwd);
    same([(await who(p, s.id)).name, s.result.configOptions?.map((o) => o.id)], ['two', ['model']], 'agent, options');
  }),
);
await report.check('authentication methods are named by agent and mapped back', async () =>
  withProxy(dir, { ...PLAIN, agent_servers: { open: scripted(dir, 'open'), closed: scripted(dir, 'closed', '--auth') } }, [], async (p) => {
    const i = await hello(p);
    same(
      i.authMethods?.map((m) => m.id),
      ['closed/login'],
      'methods',
    );
    const refused = await p.request('session/new', { cwd, mcpServers: [], ...choose('closed') });
    same(refused.msg.error?.code, -32000, 'session/new before authenticate');
    const login = await p.request('authenticate', { methodId: 'closed/login' });
    must(login.msg.result, `authenticate: ${JSON.stringify(login.msg)}`);
    same((await who(p, (await open(p, cwd, 'closed')).id)).name, 'closed', 'after');
  }),
);
await report.check('an agent with only modes keeps them next to the agent option', async () =>
  withProxy(
    dir,
    { ...PLAIN, agent_servers: { old: scripted(dir, 'old', '--modes-only'), other: scripted(dir, 'other') } },
    [],
    async (p) => {
      await hello(p);
      const s = await open(p, cwd, 'old');
      const mode = s.result.configOptions?.find((o) => o.category === 'mode');
      same(
        [mode?.currentValue, mode?.options?.map((o) => o.value), s.result.modes?.currentModeId],
        ['ask', ['ask', 'code'], 'ask'],
        'mode option',
      );
      const set = await p.request('session/set_config_option', { sessionId: s.id, configId: mode.id, value: 'code' });
      same(
        [set.msg.result?.configOptions?.find((o) => o.id === mode.id)?.currentValue, (await who(p, s.id)).mode],
        ['code', 'code'],
        'after set',
      );
    },
  ),
);
await report.check('initialize is answered from the cache while a slow agent still starts', async () => {
  const config = { ...PLAIN, agent_servers: { slow: scripted(dir, 'slow', '--slow-init', '1500'), quick: scripted(dir, 'quick') } };
  const timed = async (p) => {
    const from = performance.now();
    const init = await hello(p);
    return [Math.round(performance.now() - from), JSON.stringify(init)];
  };
  let cold;
  await withProxy(dir, config, [], async (p) => {
    cold = await timed(p);
  });
  await withProxy(dir, config, [], async (p) => {
    const warm = await timed(p);
    must(warm[0] < cold[0] - 700, `first start ${cold[0]} ms, second ${warm[0]} ms`);
    same(warm[1], cold[1], 'answer');
    same((await who(p, (await open(p, cwd, 'slow')).id)).name, 'slow', 'agent');
  });
});
await report.check('a broken agent does not spoil the others', async () =>
  withProxy(
    dir,
    {
      ...PLAIN,
      agent_servers: {
        gone: { command: '/no/such/agent', args: [] },
        v2: scripted(dir, 'v2', '--version', '2'),
        fine: scripted(dir, 'fine'),
      },
    },
    [],
    async (p) => {
      same((await hello(p)).protocolVersion, 1, 'protocolVersion');
      same((await who(p, (await open(p, cwd, 'fine')).id)).name, 'fine', 'agent');
      for (const bad of ['gone', 'v2']) {
        const r = await p.request('session/new', { cwd, mcpServers: [], ...choose(bad) });
        must(r.msg.error && JSON.stringify(r.msg.error).includes(bad), `${bad}: ${JSON.stringify(r.msg)}`);
      }
    },
  ),
);
await report.check('bad configuration: exit 6, every problem named with its place', async () => {
  const p = startProxy(dir, { agent_servers: { x: { command: 5, argz: [] } }, defualt_agent: 'x' });
  const exit = await Promise.race([p.exited, sleep(8000)]);
  same(exit?.code, 6, 'exit code within 8 s');
  await Promise.race([p.closed, sleep(1000)]);
  for (const word of [/argz/, /defualt_agent/, /default_agent/, /command/, /:\d+:\d+/])
    must(word.test(p.state.stderr), `${word} is not in: ${p.state.stderr || 'an empty stderr'}`);
});
report.finish();
