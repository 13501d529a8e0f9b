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

const IDLE = 1000;
const TOKENS = 5;
const WS_AGENT = fileURLToPath(new URL('../lib/ws-agent.mjs', import.meta.url));

export default {
  name: 'remote',
  title: 'WebSocket: bursts of 200 B frames and round trips over a WebSocket to the client, or to the agent; idle clients',
  variants: ['stdio', 'client', 'agent'],
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    p50Us: { title: 'round trip p50 µs', digits: 0 },
    idleKb: { title: 'kB/idle client', digits: 1 },
  },
  async measure({ isShort, workDir, variants, load }) {
    const dir = path.join(workDir, 'remote');
    mkdirSync(dir, { recursive: true });
    const [node, program] = variants.ours.start('');
    const env = { ...process.env, SWITCHBOARD_HOME: path.join(dir, 'home') };
    const agent = [...load.command, 'agent', 'a0'];
    // The daemon always has a policy, so all variants have one.
    const policy = { version: 1, default: 'allow' };
    const configOf = (name, server) => {
      const file = path.join(dir, `${name}.json`);
      writeFileSync(file, JSON.stringify({ agent_servers: { a0: server }, allow_cwd: [dir], policy, host_tools: { enabled: false } }));
      return file;
    };
    const local = configOf('local', { command: agent[0], args: agent.slice(1) });
    const figures = {};

    const wsAgent = spawn(process.execPath, [WS_AGENT, ...agent], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await new Promise((resolve) => createInterface({ input: wsAgent.stdout }).once('line', resolve));
    const remote = configOf('remote', { url: `ws://127.0.0.1:${port}/acp`, files: 'same' });
    for (const [name, config] of [
      ['stdio', local],
      ['agent', remote],
    ]) {
      const child = spawn(node, [program, 'acp', '--config', config], { env, stdio: ['pipe', 'pipe', 'ignore'] });
      const send = (line) => child.stdin.write(`${line}\n`);
      figures[name] = await measured(child.pid, send, (heard) => createInterface({ input: child.stdout }).on('line', heard));
      child.stdin.end();
      await once(child, 'exit');
    }
    wsAgent.kill();

    const daemon = spawn(node, [program, 'serve', '--no-console', '--json', '--config', local], {
      env,
      cwd: dir,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { listening } = JSON.parse(await new Promise((resolve) => createInterface({ input: daemon.stdout }).once('line', resolve)));
    const tokens = Array.from({ length: TOKENS }, (_, n) => {
      const made = spawnSync(node, [program, 'token', 'create', `bench-${n}`, '--role', 'client'], { env, encoding: 'utf8' });
      return made.stdout.trim();
    });
    const dial = async (token) => {
      const socket = new WebSocket(`${listening.replace(/^http/, 'ws')}/acp`, { headers: { authorization: `Bearer ${token}` } });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      return socket;
    };
    const socket = await dial(tokens[0]);
    figures.client = await measured(
      daemon.pid,
      (line) => socket.send(line),
      (heard) => socket.on('message', (data) => heard(String(data))),
    );
    figures.client.idleKb = summary([await idleKb(daemon.pid, () => Promise.all(tokens.map(dial)))]);
    daemon.kill();
    await once(daemon, 'exit');
    return figures;

    /** A burst in each round, then round trips that the agent times. */
    async function measured(pid, send, listen) {
      const pending = new Map();
      let id = 0;
      let frames = 0;
      listen((line) => {
        if (line.startsWith('{"jsonrpc":"2.0","method":"session/update"')) return frames++;
        const { id: its, method, params, result, error } = JSON.parse(line);
        if (method === 'fs/read_text_file')
          return send(JSON.stringify({ jsonrpc: '2.0', id: its, result: { content: `line ${params.line} of the file` } }));
        if (error) throw new Error(error.message);
        pending.get(its)?.(result);
      });
      const ask = (method, params) =>
        new Promise((resolve) => {
          pending.set(++id, resolve);
          send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
        });
      await ask('initialize', { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
      const { sessionId } = await ask('session/new', { cwd: dir, mcpServers: [] });
      const prompt = (text) => ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
      const count = isShort ? 20_000 : 100_000;
      const cpu = [];
      const trips = [];
      for (let round = 0; round < (isShort ? 4 : 6); round++) {
        const [before, first] = [cpuNs(pid), frames];
        await prompt(`s=0,do=stream,frames=${count}`);
        await sleep(20); // the time of a running thread is not fully accounted yet
        if (frames - first < count) throw new Error(`${count - frames + first} frames are missing`);
        if (round > 0) cpu.push((cpuNs(pid) - before) / count / 1000);
      }
      for (let round = 0; round < (isShort ? 3 : 6); round++) {
        const { _meta } = await prompt('s=0,do=ping,n=2000');
        if (round > 0) trips.push(_meta.bench.p50 / 1000);
      }
      return { cpuUs: summary(cpu), p50Us: summary(trips) };
    }
    async function idleKb(pid, connect) {
      await connect(); // what the first clients load stays
      await sleep(1000);
      const before = rssKb(pid);
      for (let n = 0; n < IDLE; n += TOKENS)
        for (const one of await connect())
          one.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}');
      await sleep(3000);
      return (rssKb(pid) - before) / IDLE;
    }
  },
};

function cpuNs(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10),
    0,
  );
}
const rssKb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
