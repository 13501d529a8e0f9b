// The client of the load program in Node: starts the proxy, plays the steps, compares every frame with the one expected.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { digest, eachLine, makeFrames, options, UPDATE } from './load-frames.mjs';

const BULK = 'x'.repeat(65536);

export async function runClient(steps, [command, ...args]) {
  const startedAt = performance.now();
  const proxy = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const sessions = [];
  const byId = new Map();
  const pending = new Map();
  const updatePrefix = Buffer.from(UPDATE);
  let nextId = 0;
  let layout = 'usual';
  let parts = [];
  let bench = [];
  let frames = 0;
  let bytesSeen = 0;
  let extras = 0;
  let errors = 0;
  let at = 0;
  let wake = () => {};
  let isEnding = false;

  function fail(why) {
    console.log(JSON.stringify({ error: `${why} in step ${at}` }));
    proxy.kill('SIGKILL');
    process.exit(1);
  }
  /** Waits until `isDone`, which is checked whenever something was received or could be sent. */
  async function until(isDone) {
    const limit = setTimeout(() => fail('too late'), Number(process.env.LOAD_TIMEOUT_MS ?? 60_000));
    while (!isDone())
      await new Promise((resolve) => {
        wake = resolve;
      });
    clearTimeout(limit);
  }
  function send(what, message, extra = {}) {
    const id = nextId++;
    pending.set(id, { what, ...extra });
    proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
  }

  function onUpdate(bytes, start, end) {
    const quote = bytes.indexOf(0x22, start + updatePrefix.length);
    const session = byId.get(bytes.toString('latin1', start + updatePrefix.length, quote));
    if (session?.frame !== undefined) {
      const expected = session.frame(session.next);
      if (end - start === expected.length && bytes.compare(expected, 0, expected.length, start, end) === 0) {
        session.next++;
        session.digest = digest(session.digest, bytes, start, end);
        frames++;
        bytesSeen += end - start;
        return;
      }
    }
    const head = bytes.toString('latin1', start, Math.min(end, start + 400));
    if (head.includes('_message_chunk"') || head.includes('"toolCallId"')) fail('a frame is wrong, or not in its place');
    extras++;
  }
  function onLine(bytes, start, end) {
    if (bytes.compare(updatePrefix, 0, updatePrefix.length, start, Math.min(end, start + updatePrefix.length)) === 0)
      return onUpdate(bytes, start, end);
    const message = JSON.parse(bytes.toString('utf8', start, end));
    if (message.method !== undefined) return onRequest(message);
    const asked = pending.get(message.id) ?? fail('an answer to no request');
    pending.delete(message.id);
    if (message.error !== undefined && asked.what !== 'flooded') fail('an error');
    if (message.error !== undefined) errors++;
    if (asked.what === 'opening') asked.session.id = message.result.sessionId;
    if (asked.what === 'prompt') {
      asked.part.open--;
      if (asked.part.frames !== undefined && asked.session.next !== asked.part.frames) fail('an answer before the last frame');
      if (message.result._meta?.bench !== undefined) bench.push(message.result._meta.bench);
    }
  }
  function onRequest({ id, method, params }) {
    if (id === undefined) return extras++;
    const answer =
      method === 'fs/read_text_file'
        ? { result: { content: `line ${params.line} of the file` } }
        : { error: { code: -32601, message: 'no such method' } };
    proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  }
  const lines = eachLine(onLine);
  proxy.stdout.on('data', (chunk) => {
    lines(chunk);
    wake();
  });
  proxy.stdout.on('end', () => isEnding || fail('the proxy has ended'));
  proxy.stdin.on('drain', () => wake());
  proxy.stdin.on('error', () => isEnding || fail('the proxy takes nothing any more'));

  const rss = (field = 'VmRSS') => memoryKb(proxy.pid, field);
  const sayStep = (figures) => console.log(JSON.stringify({ ...figures, rssKb: rss() }));
  const ns = (ms) => Math.round(ms * 1e6);

  async function init() {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    const params = { protocolVersion: 1, clientCapabilities, clientInfo: { name: 'load', version: '1.0.0' } };
    send('initialize', { method: 'initialize', params });
    await until(() => pending.size === 0);
    sayStep({ step: 'init', wallNs: ns(performance.now() - startedAt), cpuNs: cpuNs(proxy.pid) });
  }
  async function open({ number }) {
    const [from, cpu, agents] = [performance.now(), cpuNs(proxy.pid), number('agents', 1)];
    for (let i = 0; i < number('n', 1); i++) {
      const session = { id: '', next: 0, digest: 0, pushed: 0 };
      const meta = agents > 1 ? { _meta: { 'acp-switchboard': { agent: `a${sessions.length % agents}` } } } : {};
      sessions.push(session);
      send('opening', { method: 'session/new', params: { cwd: '/bench/work', mcpServers: [], ...meta } }, { session });
      if (pending.size >= 100) await until(() => pending.size === 0);
    }
    await until(() => pending.size === 0);
    for (const session of sessions) byId.set(session.id, session);
    await settle(proxy.pid);
    const spent = cpuNs(proxy.pid) - cpu;
    sayStep({ step: 'new', sessions: sessions.length, wallNs: ns(performance.now() - from), cpuNs: cpu < 0 ? -1 : spent });
  }
  async function idle({ number }) {
    const [ms, cpu] = [number('ms', 500), cpuNs(proxy.pid)];
    await sleep(ms);
    sayStep({ step: 'idle', wallNs: ns(ms), cpuNs: cpu < 0 ? -1 : cpuNs(proxy.pid) - cpu });
  }
  function bulkTo(session) {
    send('flooded', { method: '_bench/bulk', params: { sessionId: session.id, text: BULK } });
  }
  /** Keeps the stream to the proxy full without buffering here; true if nothing is left to send. */
  function feed() {
    for (const part of parts) {
      const session = sessions[part.first];
      while (session.pushed < part.push && proxy.stdin.writableLength < 16384) {
        const some = [];
        for (let k = 0; k < 64 && session.pushed < part.push; k++) some.push(Buffer.from(session.note(session.pushed++)));
        proxy.stdin.write(Buffer.concat(some));
      }
      for (; part.flood > 0 && proxy.stdin.writableLength < 65536; part.flood -= 65536) bulkTo(session);
    }
    return parts.every((part) => part.flood <= 0 && sessions[part.first].pushed >= part.push);
  }
  function readParts(text) {
    parts = text.split('+').map((one) => {
      const { text: word, number } = options(one);
      const [first, last = first] = (word('s') ?? '0').split('-').map(Number);
      const stopsReading = word('do') === 'stop-reading';
      const endless = word('until') === 'cancel';
      const frames = word('do') === 'stream' && !endless ? number('frames', 1000) : undefined;
      return { text: one, first, last, open: 0, stopsReading, endless, frames, push: number('push'), flood: number('flood') };
    });
  }
  function isRoundOver() {
    if (!feed()) return false;
    const open = (endless) => parts.some((part) => !part.stopsReading && part.endless === endless && part.open > 0);
    if (open(false)) return false;
    for (const part of parts) {
      if (!part.endless || part.isCancelled) continue;
      part.isCancelled = true;
      const params = { sessionId: sessions[part.first].id };
      proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params })}\n`);
    }
    return !open(true);
  }
  async function round(text) {
    readParts(text);
    let stallMs = 0;
    let expected = 0;
    for (const part of parts) {
      const { text: word, number } = options(part.text);
      stallMs = Math.max(stallMs, number('stall'));
      for (const session of sessions.slice(part.first, part.last + 1)) {
        Object.assign(session, { next: 0, digest: 0, pushed: 0 });
        if (part.push > 0) session.note = makeFrames('note', 0, session.id);
        if (word('do') !== 'stream') continue;
        session.frame = makeFrames(word('kind') ?? 'small', number('size'), session.id, layout);
        expected += part.frames ?? 0;
      }
    }
    [frames, bytesSeen, bench] = [0, 0, []];
    await settle(proxy.pid);
    resetPeak(proxy.pid);
    const rssBeforeKb = rss();
    let rssStalledKb = rssBeforeKb;
    const [cpu, from, own] = [cpuNs(proxy.pid), performance.now(), process.cpuUsage()];
    if (stallMs > 0) proxy.stdout.pause();
    for (const part of parts)
      for (const session of sessions.slice(part.first, part.last + 1)) {
        part.open++;
        const params = { sessionId: session.id, prompt: [{ type: 'text', text: part.text }] };
        send(part.stopsReading ? 'flooded' : 'prompt', { method: 'session/prompt', params }, { part, session });
      }
    while (performance.now() - from < stallMs) {
      await sleep(20);
      rssStalledKb = Math.max(rssStalledKb, rss());
    }
    const resumed = performance.now();
    if (stallMs > 0) proxy.stdout.resume();
    await until(isRoundOver);
    const [wallMs, resumeMs, spent] = [performance.now() - from, performance.now() - resumed, process.cpuUsage(own)];
    await settle(proxy.pid);
    if (parts.every(({ endless }) => !endless) && frames !== expected) fail('frames are missing');
    const touched = parts.flatMap(({ first, last }) => sessions.slice(first, last + 1));
    sayStep({
      step: 'round',
      wallNs: ns(wallMs),
      cpuNs: cpu < 0 ? -1 : cpuNs(proxy.pid) - cpu,
      frames,
      bytes: bytesSeen,
      digest: (touched.reduce((sum, session) => sum + session.digest, 0) >>> 0).toString(16).padStart(8, '0'),
      extras,
      loadCpuNs: (spent.user + spent.system) * 1000,
      rssBeforeKb,
      rssStalledKb,
      resumeNs: ns(resumeMs),
      peakKb: rss('VmHWM'),
      errors,
      bench,
    });
  }
  async function flood({ number }) {
    const [first, rssBeforeKb, from] = [number('s'), rss(), performance.now()];
    parts = [{ first, last: first, push: 0, flood: number('bytes', 1 << 20) }];
    resetPeak(proxy.pid);
    await until(() => feed() && pending.size === 0);
    sayStep({ step: 'flood', wallNs: ns(performance.now() - from), rssBeforeKb, peakKb: rss('VmHWM'), errors });
  }

  for (const step of steps) {
    const [, name, rest] = /^(\w+):?(.*)$/.exec(step);
    errors = 0;
    if (name === 'layout') layout = rest;
    else if (name === 'init') await init();
    else if (name === 'new') await open(options(rest));
    else if (name === 'idle') await idle(options(rest));
    else if (name === 'round') await round(rest);
    else if (name === 'flood') await flood(options(rest));
    else fail(`no such step: ${step}`);
    at++;
  }
  isEnding = true;
  proxy.stdin.end();
  const timer = setTimeout(() => proxy.kill('SIGKILL'), 5000);
  await new Promise((resolve) => proxy.once('exit', resolve));
  clearTimeout(timer);
}

/** -1 where the system does not provide it. */
function cpuNs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => sum + Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10), 0);
  } catch {
    return -1;
  }
}
function memoryKb(pid, field) {
  try {
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? -1);
  } catch {
    return -1;
  }
}
function resetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {} // then the peak is that of the whole process
}
/** Waits until the proxy sleeps: the CPU time of a running thread is not fully accounted yet. */
async function settle(pid) {
  for (let i = 0, asleep = 0; i < 100 && asleep < 3; i++) {
    await sleep(1);
    try {
      asleep = /\) S /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) ? asleep + 1 : 0;
    } catch {
      return;
    }
  }
}
