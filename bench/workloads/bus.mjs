// What a link over NATS costs, against a pipe between the same two switchboards: bursts, short turns, a 32 MB frame next to another session,
// and 200 sessions over two hosts. The client is cheap: it looks only at the beginning of a line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { summary } from '../lib/collect.mjs';
import { RunFailure } from '../lib/measure.mjs';
import { startNats } from '../lib/nats.mjs';

const SESSIONS = 200;
const LARGE = '32m';
const FRAME_LIMIT = 64 * 1024 * 1024;
const STEP_MS = 120_000;
const HEAD_BYTES = 4096;
const UPDATE = '{"jsonrpc":"2.0","method":"session/update"';
const CLIENT = { protocolVersion: 1, clientCapabilities: {} };

export default {
  name: 'bus',
  title:
    'Bus: an edge and its host, joined by a pipe or by a link over NATS; a 32 MB frame next to short turns; 200 sessions over two hosts',
  variants: ['pipe', 'nats'],
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    turnUs: { title: 'turn p50 µs', digits: 0 },
    stallMs: { title: 'longest turn next to 32 MB, ms', digits: 0 },
    manyUs: { title: 'CPU µs/frame, 200 sessions', digits: 2 },
  },
  async measure({ isShort, workDir, variants, load }) {
    const [frames, bursts, pings, trips] = isShort ? [20_000, 4, 1000, 3] : [100_000, 6, 2000, 6];
    const started = [];
    try {
      const both = await joined({ dir: path.join(workDir, 'bus'), variants, load, started });
      if (!both) {
        console.error('bench: nats-server is not installed, so the bus is not measured: apt-get install nats-server');
        return {};
      }
      const figures = Object.fromEntries(Object.keys(both).map((name) => [name, { cpuUs: [], turnUs: [], stallMs: [] }]));
      // In turns, so that other programs on the machine disturb all alike. The first round warms up.
      const inTurns = async (rounds, metric, measure) => {
        for (let round = 0; round < rounds; round++)
          for (const [name, one] of Object.entries(both)) {
            const value = await measure(one);
            if (round > 0) figures[name][metric].push(value);
          }
      };
      await inTurns(bursts, 'cpuUs', (one) => one.burst(frames));
      await inTurns(trips, 'turnUs', (one) => one.ping(pings));
      await inTurns(trips, 'stallMs', (one) => one.stall());
      figures.nats.manyUs = await both.nats.many(isShort ? 100 : 500);
      const summed = (all) => Object.fromEntries(Object.entries(all).map(([metric, values]) => [metric, summary(values)]));
      return Object.fromEntries(Object.entries(figures).map(([name, all]) => [name, summed(all)]));
    } finally {
      for (const child of started) child.kill();
      await Promise.all(started.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    }
  },
};

/** Undefined without NATS. */
async function joined({ dir, variants, load, started }) {
  const nats = await startNats(path.join(dir, 'nats'));
  if (!nats) return undefined;
  started.push(nats.child);
  const [node, program] = variants.ours.start('');
  const [command, ...args] = [...load.command, 'agent', 'a0'];
  const write = (name, settings) => {
    const file = path.join(dir, `${name}.json`);
    const limits = { max_frame_bytes: FRAME_LIMIT };
    writeFileSync(file, JSON.stringify({ limits, allow_cwd: [dir], host_tools: { enabled: false }, ...settings }));
    return file;
  };
  const run = (name, ...words) => {
    mkdirSync(path.join(dir, name), { recursive: true });
    const env = { ...process.env, SWITCHBOARD_HOME: path.join(dir, name) };
    const child = spawn(node, [program, ...words], { env, cwd: dir, stdio: ['pipe', 'pipe', 'pipe'] });
    child.setMaxListeners(0); // 200 prompts wait for it at once
    child.lastWords = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      child.lastWords = `${child.lastWords}${text}`.slice(-1000);
    });
    child.stdin.on('error', () => {});
    started.push(child);
    return child;
  };
  // Hosts always have a policy, so the one behind the pipe has one, too.
  const local = write('local', { agent_servers: { a0: { command, args } }, policy: { version: 1, default: 'allow' } });
  // Through a shell: a switchboard does not take itself for an agent.
  const inner = { command: 'sh', args: ['-c', 'exec "$@"', 'sh', node, program, 'acp', '--config', local] };
  const pipe = run('pipe', 'acp', '--config', write('over-pipe', { agent_servers: { a0: inner } }));
  const hosts = ['h1', 'h2'].map((name) =>
    run(name, 'host', '--name', name, '--config', local, '--bus', nats.url, '--capacity', String(SESSIONS + 10), '--json'),
  );
  await Promise.all(hosts.map((host) => orExit(host, once(host.stdout, 'data'))));
  const edge = run('edge', 'acp', '--config', write('over-nats', {}), '--bus', nats.url);
  return {
    pipe: await connection(pipe, dir, () => [pipe.pid, ...childrenOf(pipe.pid)]),
    nats: await connection(edge, dir, () => [edge, ...hosts].map(({ pid }) => pid)),
  };
}

/** `switchboards`: the processes whose CPU time counts. */
async function connection(child, dir, switchboards) {
  const pending = new Map();
  let lastId = 0;
  let frames = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  headsOfLines(child.stdout, (line) => {
    if (line.startsWith(UPDATE)) return frames++;
    const { id, result, error } = JSON.parse(line);
    const settle = pending.get(id);
    pending.delete(id);
    settle?.(error ? Promise.reject(new RunFailure(error.message)) : result);
  });
  const ask = (method, params) =>
    orExit(
      child,
      new Promise((resolve) => {
        pending.set(++lastId, resolve);
        send({ id: lastId, method, params });
      }),
    );
  const open = async () => (await ask('session/new', { cwd: dir, mcpServers: [] })).sessionId;
  const prompt = (sessionId, text) => ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  const cpuNs = () => switchboards().reduce((sum, pid) => sum + cpuOf(pid), 0);
  /** CPU time per frame of these prompts, each of which brings so many. */
  async function perFrame(sessions, count) {
    const [before, first] = [cpuNs(), frames];
    await Promise.all(sessions.map((session) => prompt(session, `s=0,do=stream,frames=${count}`)));
    await sleep(20); // the time of a running thread is not fully accounted yet
    const arrived = frames - first;
    if (arrived !== count * sessions.length) throw new RunFailure(`${arrived} frames of ${count * sessions.length} arrived`);
    return (cpuNs() - before) / arrived / 1000;
  }
  /** A turn with one word, in milliseconds. */
  async function turn(session) {
    const began = performance.now();
    await prompt(session, 's=0,do=stream,frames=1');
    return performance.now() - began;
  }
  await ask('initialize', CLIENT);
  const [session, other] = [await open(), await open()];
  return {
    burst: (count) => perFrame([session], count),
    async ping(count) {
      const times = [];
      while (times.length < count) times.push(await turn(session));
      return times.sort((a, b) => a - b)[count >> 1] * 1000;
    },
    /** The longest turn of one session while another one sends 32 MB. */
    async stall() {
      let longest = 0;
      let isOver = false;
      const large = prompt(other, `s=0,do=stream,kind=diff,size=${LARGE},frames=1`).then(() => {
        isOver = true;
      });
      while (!isOver) longest = Math.max(longest, await turn(session));
      await large;
      return longest;
    },
    async many(count) {
      const sessions = [];
      while (sessions.length < SESSIONS) sessions.push(await open());
      const samples = [];
      for (let round = 0; round < 4; round++) samples.push(await perFrame(sessions, count));
      return samples.slice(1);
    },
  };
}

/** Calls back with the beginning of each line, and reads past the rest of it. */
function headsOfLines(stream, heard) {
  let head = Buffer.alloc(0);
  stream.on('data', (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(10, at);
      const part = chunk.subarray(at, end === -1 ? chunk.length : end);
      if (head.length < HEAD_BYTES) head = head.length === 0 ? part.subarray(0, HEAD_BYTES) : Buffer.concat([head, part]);
      if (end === -1) return;
      heard(head.toString());
      head = Buffer.alloc(0);
      at = end + 1;
    }
  });
}

/** A program that ends, or does not answer, is a failure and no reason to wait. */
async function orExit(child, answer) {
  const ended = ([code]) => Promise.reject(new RunFailure(`exit code ${code}\n${child.lastWords}`));
  if (child.exitCode !== null) return ended([child.exitCode]);
  const over = new AbortController();
  const { signal } = over;
  const late = () => Promise.reject(new RunFailure(`no answer within ${STEP_MS} ms\n${child.lastWords}`));
  try {
    return await Promise.race([answer, once(child, 'exit', { signal }).then(ended), sleep(STEP_MS, undefined, { signal }).then(late)]);
  } finally {
    over.abort();
  }
}

const statOf = (pid) => readFileSync(`/proc/${pid}/stat`, 'latin1');

/** The switchboards that this one started: its agents. */
function childrenOf(pid) {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && Number(/\) \S (\d+)/.exec(statOf(name))?.[1]) === pid ? [Number(name)] : [];
    } catch {
      return []; // it has ended
    }
  });
}

function cpuOf(pid) {
  const ofTask = (task) => Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ofTask(task), 0);
}
