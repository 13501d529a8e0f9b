// What a WebSocket costs the switchboard, on the client's side and on the agent's, compared with stdio on both; and what an idle client takes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { summary } from '../lib/collect.mjs';
import { RunFailure } from '../lib/measure.mjs';

const IDLE = 1000;
/** One principal has at most 256 connections. */
const TOKENS = 5;
const STEP_MS = 60_000;
const WS_AGENT = fileURLToPath(new URL('../lib/ws-agent.mjs', import.meta.url));
const CLIENT = { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } };

export default {
  name: 'remote',
  title: 'WebSockets: bursts of 200 B frames and round trips over a WebSocket to the client or to the agent; 1,000 idle clients',
  variants: ['stdio', 'client', 'agent'],
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    p50Us: { title: 'round trip p50 µs', digits: 0 },
    idleKb: { title: 'kB/idle client', digits: 1 },
  },
  async measure({ isShort, workDir, variants, load }) {
    const [frames, bursts, pings, trips] = isShort ? [20_000, 4, 1000, 3] : [100_000, 6, 2000, 6];
    const started = [];
    try {
      const connections = await connectAll({ workDir, variants, load, started });
      const figures = Object.fromEntries(Object.keys(connections).map((name) => [name, { cpuUs: [], p50Us: [] }]));
      // In turns, so that other programs on the machine disturb all alike. The first round warms up.
      for (let round = 0; round < bursts; round++)
        for (const [name, one] of Object.entries(connections)) {
          const cpu = await one.burst(frames);
          if (round > 0) figures[name].cpuUs.push(cpu);
        }
      for (let round = 0; round < trips; round++)
        for (const [name, one] of Object.entries(connections)) {
          const p50 = await one.ping(pings);
          if (round > 0) figures[name].p50Us.push(p50);
        }
      const all = Object.entries(figures).map(([name, { cpuUs, p50Us }]) => [name, { cpuUs: summary(cpuUs), p50Us: summary(p50Us) }]);
      const result = Object.fromEntries(all);
      result.client.idleKb = summary([await connections.client.idleKb()]);
      return result;
    } finally {
      for (const child of started) child.kill();
      await Promise.all(started.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    }
  },
};

async function connectAll({ workDir, variants, load, started }) {
  const dir = path.join(workDir, 'remote');
  mkdirSync(dir, { recursive: true });
  const [node, program] = variants.ours.start('');
  const env = { ...process.env, SWITCHBOARD_HOME: path.join(dir, 'home') };
  const [command, ...args] = [...load.command, 'agent', 'a0'];
  const configFile = (name, server) => {
    const file = path.join(dir, `${name}.json`);
    // The daemon always has a policy, so all variants have one.
    const policy = { version: 1, default: 'allow' };
    writeFileSync(file, JSON.stringify({ agent_servers: { a0: server }, allow_cwd: [dir], policy, host_tools: { enabled: false } }));
    return file;
  };
  const run = (...command) => {
    const child = spawn(command[0], command.slice(1), { env, cwd: dir, stdio: ['pipe', 'pipe', 'pipe'] });
    child.lastWords = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      child.lastWords = `${child.lastWords}${text}`.slice(-1000);
    });
    child.stdin.on('error', () => {});
    started.push(child);
    return child;
  };
  const firstLine = (child) => orExit(child, new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)));

  const local = configFile('local', { command, args });
  const port = await firstLine(run(process.execPath, WS_AGENT, command, ...args));
  const remote = configFile('remote', { url: `ws://127.0.0.1:${port}/acp`, files: 'same' });
  const overStdio = (config) => {
    const child = run(node, program, 'acp', '--config', config);
    const listen = (heard) => createInterface({ input: child.stdout }).on('line', heard);
    return connection(child, { dir, send: (line) => child.stdin.write(`${line}\n`), listen });
  };
  const daemon = run(node, program, 'serve', '--no-console', '--json', '--config', local);
  const { listening } = JSON.parse(await firstLine(daemon));
  const tokens = Array.from({ length: TOKENS }, (_, n) => {
    const made = spawnSync(node, [program, 'token', 'create', `bench-${n}`, '--role', 'client'], { env, encoding: 'utf8' });
    return made.stdout.trim();
  });
  const dial = async (token) => {
    const socket = new WebSocket(`${listening.replace(/^http/, 'ws')}/acp`, { headers: { authorization: `Bearer ${token}` } });
    await orExit(daemon, once(socket, 'open'));
    return socket;
  };
  const socket = await dial(tokens[0]);
  const listen = (heard) => socket.on('message', (data) => heard(String(data)));
  const client = await connection(daemon, { dir, send: (line) => socket.send(line), listen });
  client.idleKb = () => idleKb(daemon, () => Promise.all(tokens.map(dial)));
  return { stdio: await overStdio(local), client, agent: await overStdio(remote) };
}

/** A client with one session. `burst` resolves to microseconds of the switchboard's CPU per frame, `ping` to the p50 of round trips. */
async function connection(child, { dir, send, listen }) {
  const pending = new Map();
  let lastId = 0;
  let frames = 0;
  listen((line) => {
    if (line.startsWith('{"jsonrpc":"2.0","method":"session/update"')) return frames++;
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === 'fs/read_text_file')
      return send(JSON.stringify({ jsonrpc: '2.0', id, result: { content: `line ${params.line} of the file` } }));
    const settle = pending.get(id);
    pending.delete(id);
    settle?.(error ? Promise.reject(new RunFailure(error.message)) : result);
  });
  const ask = (method, params) =>
    orExit(
      child,
      new Promise((resolve) => {
        pending.set(++lastId, resolve);
        send(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }));
      }),
    );
  await ask('initialize', CLIENT);
  const { sessionId } = await ask('session/new', { cwd: dir, mcpServers: [] });
  const prompt = (text) => ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  return {
    async burst(count) {
      const [before, first] = [cpuNs(child.pid), frames];
      await prompt(`s=0,do=stream,frames=${count}`);
      await sleep(20); // the time of a running thread is not fully accounted yet
      if (frames - first !== count) throw new RunFailure(`${frames - first} frames of ${count} arrived`);
      return (cpuNs(child.pid) - before) / count / 1000;
    },
    async ping(count) {
      const { _meta } = await prompt(`s=0,do=ping,n=${count}`);
      return _meta.bench.p50 / 1000;
    },
  };
}

/** `connect` opens one connection for each token. */
async function idleKb(daemon, connect) {
  await initialized(daemon, await connect()); // what the first clients load stays
  await sleep(500);
  const before = rssKb(daemon.pid);
  for (let n = 0; n < IDLE; n += TOKENS) await initialized(daemon, await connect());
  await sleep(500);
  return (rssKb(daemon.pid) - before) / IDLE;
}

function initialized(daemon, sockets) {
  const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: CLIENT });
  const answers = sockets.map((socket) => {
    socket.send(line);
    return once(socket, 'message');
  });
  return orExit(daemon, Promise.all(answers));
}

/** A program that ends, or does not answer, is a failure and no reason to wait. */
async function orExit(child, answer) {
  const ended = ([code]) => Promise.reject(new RunFailure(`exit code ${code}\n${child.lastWords}`));
  if (child.exitCode !== null) return ended([child.exitCode]);
  const over = new AbortController();
  const { signal } = over;
  try {
    return await Promise.race([
      answer,
      once(child, 'exit', { signal }).then(ended),
      sleep(STEP_MS, undefined, { signal }).then(() =>
        Promise.reject(new RunFailure(`no answer within ${STEP_MS} ms\n${child.lastWords}`)),
      ),
    ]);
  } finally {
    over.abort();
  }
}

function cpuNs(pid) {
  const ofTask = (task) => Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ofTask(task), 0);
}
const rssKb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
