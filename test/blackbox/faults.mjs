// What an editor sees of a sick agent: one clear answer on that agent's sessions, nothing on the others, nothing left behind.
import fs from 'node:fs';
import path from 'node:path';
import { createReport, eventually, must, same, sleep, textOf } from './peer.mjs';
import { alive, choose, hello, open, PLAIN, processesOf, prompt, rssMb, scratch, scripted, startProxy, who, withProxy } from './proxy.mjs';

const report = createReport('faults');
const dir = scratch();
const cwd = path.join(dir, 'work');
const config = {
  ...PLAIN,
  agent_servers: { sick: scripted(dir, 'sick'), loads: scripted(dir, 'loads', '--no-resume'), well: scripted(dir, 'well') },
};
const asks =
  (sessionId) =>
  ({ msg }) =>
    msg?.method === 'session/request_permission' && msg.params.sessionId === sessionId;
const ended = (r, what) => same(r.msg.result?.stopReason, 'end_turn', `${what}: ${JSON.stringify(r.msg).slice(0, 200)}`);
let running;
// The proxy all checks share; a new one when the last has died, so that one failure does not become all.
async function shared() {
  if (!running || running.state.exit) {
    running = startProxy(dir, config);
    running.on('session/request_permission', () => undefined);
    await hello(running).catch((error) => {
      report.giveUp();
      throw error;
    });
  }
  return running;
}
async function peakWhile(peer, body) {
  const before = rssMb(peer);
  let peak = before;
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, rssMb(peer));
    } catch {}
  }, 20);
  try {
    await body(() => peak - before);
  } finally {
    clearInterval(timer);
  }
  return Math.round(peak - before);
}

await report.check('agent dies mid-turn: its requests get one error each, with agent and reason; the other agent goes on', async () => {
  const peer = await shared();
  const [sick, other, well] = [await open(peer, cwd, 'sick'), await open(peer, cwd, 'sick'), await open(peer, cwd, 'well')];
  const asking = prompt(peer, other.id, 'permit execute {"command":"ls"}');
  must(await peer.until(asks(other.id)), 'the question did not arrive');
  const busy = prompt(peer, well.id, 'chunks 3000', 30000);
  const died = await prompt(peer, sick.id, 'crash');
  const words = JSON.stringify(died.msg.error ?? {}).replaceAll(sick.id, '');
  must(died.msg.error?.code === -32603 && words.includes('sick'), `want -32603 naming the agent: ${JSON.stringify(died.msg)}`);
  must(words.includes('17'), `the exit code is not in the error: ${words}`);
  must(/scripted crash/.test(JSON.stringify(died.msg.error.data ?? '')), `stderr is not in data: ${JSON.stringify(died.msg.error.data)}`);
  const second = await asking;
  same(second.msg.error?.code, -32603, 'the other session of the dead agent');
  const question = peer.state.lines.find(asks(other.id)).msg;
  must(
    await peer.until(({ msg }) => msg?.method === '$/cancel_request' && msg.params.requestId === question.id, 3000),
    'the open question was not withdrawn',
  );
  ended(await busy, 'the other agent');
  same([peer.answersTo(died.msg.id), peer.answersTo(second.msg.id)], [1, 1], 'answers per request');
});
for (const [agent, how] of [
  ['sick', 'resume'],
  ['loads', 'load, its replay kept from the client'],
])
  await report.check(`the next prompt brings the session back on a fresh process (${how})`, async () => {
    const peer = await shared();
    const s = await open(peer, cwd, agent);
    const before = await who(peer, s.id);
    const crash = await prompt(peer, s.id, 'crash');
    must(crash.msg.error, `crash: ${JSON.stringify(crash.msg)}`);
    ended(await prompt(peer, s.id, 'echo back'), 'the next prompt');
    must(!textOf(peer.updates(s.id)).includes('replayed'), 'the replay leaked to the client');
    const after = await who(peer, s.id);
    must(after.pid !== before.pid, 'not a new process');
    same([after.name, after.native, after.turns], [agent, before.native, 4], 'agent, native session, turns');
  });
await report.check('noise and broken lines from an agent are skipped', async () => {
  const peer = await shared();
  const s = await open(peer, cwd, 'sick');
  const from = peer.state.lines.length;
  ended(await prompt(peer, s.id, 'noise'), 'prompt');
  same(textOf(peer.updates(s.id)), 'after noise', 'text');
  same(
    peer.state.lines
      .slice(from)
      .filter(({ msg }) => msg === undefined || Array.isArray(msg))
      .map(({ line }) => line),
    [],
    'lines passed on',
  );
});
await report.check('a 100 MB line is skipped in bounded memory, that session and others go on', async () => {
  const peer = await shared();
  const [s, other] = [await open(peer, cwd, 'sick'), await open(peer, cwd, 'well')];
  let heard;
  const grown = await peakWhile(peer, async () => {
    const huge = prompt(peer, s.id, 'hugeline 100', 30000);
    const echo = prompt(peer, other.id, 'echo meanwhile', 30000);
    ended(await echo, 'the other agent');
    ended(await huge, 'the agent itself');
    heard = textOf(peer.updates(s.id));
  });
  must(heard.endsWith('after huge'), 'what followed the line did not arrive');
  must(grown < 110, `RSS grew by ${grown} MB`);
  return `RSS +${grown} MB`;
});
await report.check("a hanging turn is ended by cancel and close; the agent's other sessions go on", async () => {
  const peer = await shared();
  const [s, other] = [await open(peer, cwd, 'sick'), await open(peer, cwd, 'sick')];
  const hung = prompt(peer, s.id, 'hang', 20000);
  const slow = prompt(peer, other.id, 'sleep 400');
  peer.notify('session/cancel', { sessionId: s.id });
  const closed = await peer.request('session/close', { sessionId: s.id });
  must(closed.msg.result, `close: ${JSON.stringify(closed.msg)}`);
  const r = await hung;
  must(r.msg.result?.stopReason === 'cancelled' || r.msg.error, `the turn: ${JSON.stringify(r.msg)}`);
  ended(await slow, 'another session of the agent');
  same(peer.answersTo(r.msg.id), 1, 'answers');
});
await running?.stop();

await report.check('client that stops reading: memory bounded, then everything arrives in order', () =>
  withProxy(dir, config, [], async (p) => {
    await hello(p);
    const s = await open(p, cwd, 'well');
    ended(await prompt(p, s.id, 'flood 100 100000'), 'warming up');
    const [frames, size] = [1500, 100000];
    let done;
    const grown = await peakWhile(p, async (soFar) => {
      p.child.stdout.pause();
      done = prompt(p, s.id, `flood ${frames} ${size}`, 30000);
      await eventually(() => soFar() > 60, 2500);
      p.child.stdout.resume();
    });
    ended(await done, 'prompt');
    same(textOf(p.updates(s.id)).length, (frames + 100) * size, 'characters delivered');
    must(grown < 60, `RSS grew by ${grown} MB while nothing was read`);
    return `RSS +${grown} MB`;
  }),
);
await report.check('an agent that stops reading fails alone, when its queue is full', () =>
  withProxy(dir, { ...config, limits: { max_queue_bytes: 2 << 20 } }, [], async (p) => {
    await hello(p);
    const [s, other] = [await open(p, cwd, 'sick'), await open(p, cwd, 'well')];
    const deaf = prompt(p, s.id, 'deaf', 12000);
    await sleep(100);
    const filling = Array.from({ length: 40 }, () =>
      p.request('_probe/agentExt', { sessionId: s.id, fill: 'f'.repeat(200000) }, { timeoutMs: 12000 }),
    );
    ended(await prompt(p, other.id, 'echo hello', 10000), 'the other agent');
    const { msg } = await deaf;
    must(
      JSON.stringify(msg.error ?? '')
        .replaceAll(s.id, '')
        .includes('sick'),
      `want an error naming the agent: ${JSON.stringify(msg)}`,
    );
    const open40 = (await Promise.all(filling)).filter((r) => r.msg.none).length; // a fresh process may serve the last ones
    same(open40, 0, 'of 40 requests, without an answer');
  }),
);
await report.check('an agent that never answers initialize: error after the timeout, others unharmed', () =>
  withProxy(
    dir,
    {
      ...PLAIN,
      agent_servers: {
        well: scripted(dir, 'well'),
        mute: { ...scripted(dir, 'mute', '--slow-init', '600000'), timeouts: { initialize_ms: 1500 } },
      },
    },
    [],
    async (p) => {
      same((await hello(p)).protocolVersion, 1, 'protocolVersion');
      same((await who(p, (await open(p, cwd, 'well')).id)).name, 'well', 'agent');
      const r = await p.request('session/new', { cwd, mcpServers: [], ...choose('mute') }, { timeoutMs: 8000 });
      must(r.msg.error && /mute/.test(JSON.stringify(r.msg.error)), JSON.stringify(r.msg));
    },
  ),
);
// Each in a home of its own, all at once: what they cost is the proxy's grace for agents that ignore EOF and SIGTERM.
await Promise.all(
  ['EOF', 'SIGTERM', 'SIGKILL'].map((how) =>
    report.check(`${how}: no process of any agent is left`, async () => {
      const own = scratch();
      const p = startProxy(own, { ...PLAIN, agent_servers: { stubborn: scripted(own, 'stubborn', '--ignore-eof', '--ignore-term') } });
      await hello(p);
      const s = await open(p, path.join(own, 'work'));
      const { pid } = await who(p, s.id);
      const n = textOf(p.updates(s.id)).length;
      await prompt(p, s.id, 'grandchild');
      const grandchild = Number(textOf(p.updates(s.id)).slice(n));
      must(alive(pid) && alive(grandchild), 'not running to begin with');
      if (how === 'EOF') p.child.stdin.end();
      else p.child.kill(how);
      must(await Promise.race([p.exited, sleep(12000)]), 'the proxy did not end within 12 s');
      const left = () => processesOf(path.join(own, 'agents'));
      if (how === 'SIGKILL') {
        // nothing can run after it: the next start cleans up
        const next = startProxy(own, { ...PLAIN, agent_servers: { well: scripted(dir, 'well') } });
        await hello(next);
        await eventually(() => left().length === 0, 8000);
        await next.stop();
      } else await eventually(() => left().length === 0, 500);
      same(
        left().map((x) => (x === pid ? 'agent' : x === grandchild ? 'grandchild' : x)),
        [],
        'processes left',
      );
      same(
        fs.readdirSync(path.join(own, 'tmp')).filter((f) => f !== 'node-compile-cache'),
        [],
        'temporary files left',
      );
    }),
  ),
);
report.finish();
