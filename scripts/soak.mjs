// Soak test of the built proxy with real processes: turns, crashes, hangs, floods, kills and a client that stops reading, at random. Every
// request must be answered once, every chunk must arrive in order, and nothing may grow. node scripts/soak.mjs --minutes 5 --seed 7
// With --bus: NATS servers, hosts and an edge in network namespaces, for an hour unless --minutes says otherwise (Linux, root, nats-server).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    ...{ minutes: { type: 'string' }, seed: { type: 'string' }, sessions: { type: 'string', default: '8' } },
    bus: { type: 'boolean', default: false },
  },
});
const minutes = Number(flags.minutes ?? (flags.bus ? 60 : 1));
const seed = Number(flags.seed ?? Math.floor(Math.random() * 2 ** 31));
const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
if (flags.bus) process.exit(await soakTheBus());
const REPORT_EVERY_MS = 5000;
/** A request without an answer for this long counts as lost; the longest turn is cancelled long before. */
const PATIENCE_MS = 60_000;
/** The growth allowed between the second and the last quarter of the run: buffer sizes vary. */
const MAX_GROWTH = { rssMb: 40, descriptors: 12 };

/** The test's own parts, which are TypeScript. */
async function soakTheBus() {
  const built = mkdtempSync(path.join(os.tmpdir(), 'switchboard-soak-bus-'));
  try {
    const outfile = path.join(built, 'soak.mjs');
    const { build } = await import('esbuild');
    const entryPoints = [path.join(ROOT, 'test/bus/network/soak.ts')];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20.19', sourcemap: 'inline' });
    const { soakBus } = await import(outfile);
    console.log(`soak of the bus: ${minutes} min, seed ${seed}, ${flags.sessions} users`);
    const found = await soakBus({ root: ROOT, minutes, seed, users: Number(flags.sessions), print: console.log });
    for (const what of found) console.log(`FAIL ${what}`);
    console.log(found.length === 0 ? 'soak: passed' : `soak: ${found.length} failures (seed ${seed})`);
    return found.length === 0 ? 0 : 1;
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

const random = mulberry32(seed);
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const pick = (list) => list[between(0, list.length - 1)];
/** Decisions are deterministic for a seed; the timing of the processes is not. */
function mulberry32(state) {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// A temporary folder, whose path in the environment marks every process started here.
const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-soak-'));
for (const name of ['work', 'state', 'home', 'tmp']) mkdirSync(path.join(dir, name));
const agent = (name, ...more) => ({
  command: process.execPath,
  args: [path.join(ROOT, 'test/fixtures/soaks.mjs'), name, ...more],
  timeouts: { initialize_ms: 10_000, cancel_ms: 1000, stop_grace_ms: 500 },
  restart: { max: 1_000_000, window_s: 60 },
});
const agent_servers = {
  one: agent('one'),
  two: agent('two'),
  loads: agent('loads', '--no-resume'),
  apart: { ...agent('apart'), isolation: 'session' },
};
const config = path.join(dir, 'config.json');
writeFileSync(config, JSON.stringify({ agent_servers }));
const env = {
  ...process.env,
  ...{ HOME: path.join(dir, 'home'), XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', SWITCHBOARD_CONFIG: '', TMPDIR: path.join(dir, 'tmp') },
  ...{ SWITCHBOARD_HOME: path.join(dir, 'state'), FIXTURE_DIR: dir },
};
const proxy = spawn(process.execPath, [path.join(ROOT, 'bin/switchboard.js'), 'acp', '--config', config], { env, stdio: 'pipe' });
const exited = new Promise((resolve) => proxy.once('exit', (code, signal) => resolve(signal ?? code)));

const count = { frames: 0, turns: 0, crashes: 0, kills: 0, pauses: 0, cancels: 0 };
const errors = new Map();
const failures = [];
const fail = (what) => {
  if (failures.length < 50) failures.push(what);
};
const note = (kind) => errors.set(kind, (errors.get(kind) ?? 0) + 1);

proxy.stderr.setEncoding('utf8').on('data', (text) => {
  count.crashes += text.match(/exited \(/g)?.length ?? 0;
  if (/^\s+at |Error:/m.test(text)) fail(`the proxy wrote: ${text.trim().slice(0, 500)}`);
});
let isOver = false;
void exited.then((how) => {
  if (!isOver) fail(`the proxy ended by itself: ${how}`);
  isOver = true;
  for (const { resolve } of open.values()) resolve({ error: { message: 'the proxy is gone' } });
});

// The client: sends lines and checks what it receives against what it sent.
const open = new Map();
const givenUp = new Set(); // already reported, so that a late answer is not a second failure
const heard = new Map(); // by the tag of a turn: its session, and the next expected number
let nextId = 0;
let rest = '';
proxy.stdin.on('error', () => {});
const send = (message) => proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
function request(method, params) {
  const id = nextId++;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      fail(`${method} (${JSON.stringify(params).slice(0, 150)}) had no answer within ${PATIENCE_MS / 1000} s`);
      givenUp.add(id);
      open.get(id)?.resolve({ error: { message: 'unanswered' } });
    }, PATIENCE_MS);
    const settle = (answer) => {
      clearTimeout(timer);
      open.delete(id);
      resolve(answer);
    };
    open.set(id, { method, resolve: settle });
    if (isOver) settle({ error: { message: 'the proxy is gone' } });
    else send({ id, method, params });
  });
}
proxy.stdout.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) received(JSON.parse(line));
});
function received({ id, method, params, result, error }) {
  count.frames++;
  if (method === 'session/update') return update(params);
  if (method === 'session/request_permission') {
    // Some users never answer; their turn is cancelled later.
    if (random() < 0.7) setTimeout(() => send({ id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } }), between(0, 50));
    return;
  }
  if (method !== undefined) return;
  const asked = open.get(id);
  if (asked) asked.resolve({ result, error });
  else if (!givenUp.delete(id)) fail(`a second answer, or one to nothing: id ${id}`);
}
function update({ sessionId, update: { sessionUpdate, content } }) {
  if (sessionUpdate !== 'agent_message_chunk') return;
  const [, tag, n] = /^(\w+):(\d+) /.exec(content.text) ?? [];
  const turn = heard.get(tag);
  if (tag === undefined) fail(`words nobody asked for: ${content.text.slice(0, 80)}`);
  if (!turn) return; // arrived after the end of its turn, after a cancel
  if (turn.sessionId !== sessionId) fail(`${tag} belongs to ${turn.sessionId} and came in ${sessionId}`);
  if (turn.next !== Number(n)) fail(`${tag}: ${turn.next} was expected, ${n} came`);
  turn.next = Number(n) + 1;
}

const ACTIONS = [
  ...Array(12).fill(['say', 5, 20]),
  ...Array(4).fill(['say', 200, 100]),
  ...Array(4).fill(['ask', 3, 20]),
  ...Array(2).fill(['noise', 5, 20]),
  ['flood', 3000, 500],
  ['flood', 200, 20_000],
  ['wait', 3, 20],
  ['hang', 3, 20],
  ['crash', 10, 50],
  ['child', 3, 20],
];

let tags = 0;
/** Runs one session after the other until `deadline`. */
async function user(name, deadline) {
  while (Date.now() < deadline && !isOver) {
    const opened = await request('session/new', {
      cwd: path.join(dir, 'work'),
      mcpServers: [],
      _meta: { 'acp-switchboard': { agent: name } },
    });
    if (opened.error) await refused(opened.error);
    else {
      for (let turns = between(5, 40); turns > 0 && Date.now() < deadline && !isOver; turns--)
        if (!(await turn(opened.result.sessionId))) break;
      await request('session/close', { sessionId: opened.result.sessionId });
    }
  }
}
/** False if the session can no longer be used. */
async function turn(sessionId) {
  const [what, number, size] = pick(ACTIONS);
  const tag = `t${tags++}`;
  heard.set(tag, { sessionId, next: 0 });
  const isEndless = what === 'wait' || what === 'hang';
  const answer = request('session/prompt', { sessionId, prompt: [{ type: 'text', text: `${what} ${tag} ${number} ${size}` }] });
  const cancelAfter = isEndless || random() < 0.05 ? between(20, 300) : what === 'ask' ? 500 : undefined;
  const timer = cancelAfter && setTimeout(() => send({ method: 'session/cancel', params: { sessionId } }) && count.cancels++, cancelAfter);
  const { result, error } = await answer;
  clearTimeout(timer);
  count.turns++;
  const { next } = heard.get(tag);
  heard.delete(tag);
  if (result?.stopReason === 'end_turn' && next !== number) fail(`${what} ${tag} ended with ${next} of ${number} words`);
  if (error) return refused(error);
  return true;
}
async function refused({ message, data }) {
  note(data?.reason ?? message.replace(/".*?"/g, '…').slice(0, 80));
  await delay(Math.min(data?.retryInMs ?? 0, 2000));
  return data?.reason !== 'session_lost';
}

/** Injects faults: kills, stops, and a client that does not read. */
async function injectFaults(deadline) {
  while (Date.now() < deadline && !isOver) {
    await delay(between(300, 1500));
    const victims = processes().filter((pid) => pid !== proxy.pid);
    const what = random();
    if (what < 0.4 && victims.length > 0) {
      signal(pick(victims), 'SIGKILL');
      count.kills++;
    } else if (what < 0.6 && victims.length > 0) {
      const victim = pick(victims);
      signal(victim, 'SIGSTOP');
      await delay(between(50, 500));
      signal(victim, 'SIGCONT');
    } else if (what < 0.9) {
      proxy.stdout.pause();
      count.pauses++;
      await delay(between(100, 1500));
      proxy.stdout.resume();
    }
  }
}
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // Exited meanwhile.
  }
}

/** All running processes started here; a zombie has no environment. */
function processes() {
  const mark = `FIXTURE_DIR=${dir}`;
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && contentOf(`/proc/${name}/environ`).includes(mark) ? [Number(name)] : [],
  );
}
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const samples = [];
const began = Date.now();
function sample() {
  if (isOver) return;
  const rssMb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(contentOf(`/proc/${proxy.pid}/status`))?.[1]) / 1024);
  const now = {
    s: Math.round((Date.now() - began) / 1000),
    rssMb,
    descriptors: readdirSync(`/proc/${proxy.pid}/fd`).length,
    children: processes().length - 1,
  };
  samples.push(now);
  const kinds = [...errors].map(([kind, times]) => `${kind} ${times}`).join(', ');
  const { frames, turns, crashes, kills, pauses, cancels } = count;
  console.log(
    `${String(now.s).padStart(5)} s  frames ${frames}  turns ${turns}  restarts ${crashes}  kills ${kills}  pauses ${pauses}  cancels ${cancels}  ` +
      `RSS ${now.rssMb} MB  descriptors ${now.descriptors}  children ${now.children}  open ${open.size}  errors: ${kinds || 'none'}`,
  );
}

/** The median over a part of the run, so that a single flood does not dominate it. */
function median(key, from, to) {
  const part = samples
    .slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
    .map((one) => one[key])
    .sort((a, b) => a - b);
  return part[Math.floor(part.length / 2)] ?? 0;
}

console.log(`soak: ${minutes} min, seed ${seed}, ${flags.sessions} users, agents ${Object.keys(agent_servers).join(', ')}`);
const timer = setInterval(sample, REPORT_EVERY_MS);
const initialized = await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
if (initialized.error) fail(`initialize: ${initialized.error.message}`);
const deadline = Date.now() + minutes * 60_000;
const users = Array.from({ length: Number(flags.sessions) }, (_, n) => user(Object.keys(agent_servers)[n % 4], deadline));
await Promise.all([...users, injectFaults(deadline)]);
clearInterval(timer);
sample();

if (open.size > 0) fail(`${open.size} requests without an answer`);
for (const [key, most] of Object.entries(MAX_GROWTH)) {
  const [before, after] = [median(key, 0.25, 0.5), median(key, 0.75, 1)];
  console.log(`${key}: ${before} in the second quarter, ${after} in the last`);
  if (after - before > most) fail(`${key} grew from ${before} to ${after}`);
}
isOver = true;
const ending = Date.now();
proxy.stdin.end();
const how = await Promise.race([exited, delay(15_000, 'nothing within 15 s')]);
if (how !== 0) fail(`the end: ${how}`);
const left = processes();
if (left.length > 0)
  fail(`processes left: ${left.map((pid) => `${pid} (${contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()})`).join(', ')}`);
for (const pid of left) signal(pid, 'SIGKILL');
console.log(`ended with ${how} after ${Date.now() - ending} ms, ${left.length} processes left`);
rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
for (const what of failures) console.log(`FAIL ${what}`);
console.log(failures.length === 0 ? 'soak: passed' : `soak: ${failures.length} failures (seed ${seed})`);
process.exit(failures.length === 0 ? 0 : 1);
