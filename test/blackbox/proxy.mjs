// Starts the proxy under test with a configuration made on the spot, in a throw-away home.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, must, startPeer, text, textOf } from './peer.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const AGENT = path.join(here, 'scripted-agent.mjs');
// A word of the command that names an existing file is made absolute, because the proxy runs in a directory of its own.
const command = (process.env.SWITCHBOARD ?? 'node bin/switchboard.js')
  .split(' ')
  .map((word) => (word.includes('/') && fs.existsSync(word) ? path.resolve(word) : word));

// Processes that name `dir` on their command line: the agents of a check and what they started.
export function processesOf(dir) {
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir) && !/\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
      } catch {
        return false;
      }
    })
    .map(Number);
}
export function scratch() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'switchboard-check-'));
  for (const sub of ['home', 'state', 'work', 'agents', 'tmp']) fs.mkdirSync(path.join(dir, sub));
  process.on('exit', () => {
    for (const pid of processesOf(dir)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {}
    }
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return dir;
}
export const scripted = (dir, name, ...flags) => ({
  command: process.execPath,
  args: [AGENT, '--name', name, '--state', path.join(dir, 'agents'), ...flags],
  env: {},
});
export const direct = (dir, name, cwd) => {
  const { command: node, args } = scripted(dir, name);
  return startPeer(node, args, { cwd });
};

export function startProxy(dir, config, args = []) {
  const file = path.join(dir, `config-${Math.random().toString(36).slice(2)}.json`);
  fs.writeFileSync(file, JSON.stringify(config, null, 2));
  return startPeer(command[0], [...command.slice(1), 'acp', '--config', file, ...args], {
    cwd: path.join(dir, 'work'),
    env: {
      HOME: path.join(dir, 'home'),
      XDG_CONFIG_HOME: '',
      XDG_STATE_HOME: '',
      SWITCHBOARD_HOME: path.join(dir, 'state'),
      TMPDIR: path.join(dir, 'tmp'),
    },
  });
}
export const CAPS = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
export async function hello(peer, caps = CAPS) {
  const answer = await peer.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: caps,
    clientInfo: { name: 'check', version: '0' },
  });
  must(answer.msg.result, `initialize: ${JSON.stringify(answer.msg)}`);
  return answer.msg.result;
}
export async function withProxy(dir, config, args, body) {
  const peer = startProxy(dir, config, args);
  try {
    return await body(peer);
  } finally {
    await peer.stop();
  }
}
export const choose = (agent) => ({ _meta: { 'acp-switchboard': { agent } } });
export async function open(peer, cwd, agent, extra = {}) {
  const answer = await peer.request('session/new', { cwd, mcpServers: [], ...(agent ? choose(agent) : {}), ...extra });
  must(answer.msg.result?.sessionId, `session/new: ${JSON.stringify(answer.msg)}`);
  return { id: answer.msg.result.sessionId, result: answer.msg.result, answer };
}
export const prompt = (peer, sessionId, t, timeoutMs) => peer.request('session/prompt', { sessionId, prompt: text(t) }, { timeoutMs });
// What the agent of a session says about itself and the session.
export async function who(peer, sessionId) {
  const before = textOf(peer.updates(sessionId)).length;
  const r = await prompt(peer, sessionId, 'whoami');
  must(r.msg.result?.stopReason === 'end_turn', `whoami: ${JSON.stringify(r.msg)}`);
  const words = () => textOf(peer.updates(sessionId)).slice(before);
  await eventually(() => words(), 1000); // its place before the answer is another check's business
  try {
    return JSON.parse(words());
  } catch {
    throw new Error(`whoami said ${words().slice(0, 100) || 'nothing'}`);
  }
}
export const alive = (pid) => {
  try {
    return !/\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
export const rssMb = (peer) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${peer.child.pid}/status`, 'utf8'))[1]) / 1024;
// Host tools off, so that no server is injected: what is compared here is the protocol, not what we add to it.
export const PLAIN = { host_tools: { enabled: false } };
