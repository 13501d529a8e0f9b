// A bare JSON-RPC peer over a child's stdio. No dependencies, no validation: it shows frames as they are.
import { spawn } from 'node:child_process';

const running = new Set();
let outstayed = false; // once a process did not end by itself, the next ones get less time
process.on('exit', () => {
  for (const pid of running) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {}
  }
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130)); // so that what runs on exit runs

export function startPeer(command, args, { env = {}, cwd } = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env }, cwd, detached: true });
  const state = { lines: [], stderr: '', exit: undefined };
  const waiting = new Map();
  const watchers = new Set();
  const handlers = new Map();
  let parts = [];
  let nextId = 1;
  let impatient = false;
  if (child.pid) running.add(child.pid);
  child.stdin.on('error', () => {});
  child.stderr.on('data', (d) => {
    state.stderr = (state.stderr + d).slice(-20000);
  });
  child.stdout.on('data', (chunk) => {
    let start = 0;
    for (let lf = chunk.indexOf(10); lf >= 0; lf = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, lf);
      const line = (parts.length ? Buffer.concat([...parts, piece]) : piece).toString('utf8').replace(/\r$/, '');
      parts = [];
      start = lf + 1;
      if (line.trim()) onLine(line);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
  const closed = new Promise((done) => child.on('close', done));
  const exited = new Promise((done) => {
    const end = (exit) => {
      if (state.exit) return;
      state.exit = exit;
      running.delete(child.pid);
      setTimeout(wakeAll, 100);
      done(exit);
    };
    child.on('exit', (code, signal) => end({ code, signal }));
    child.on('error', (error) => end({ error: error.message }));
  });
  const lastWords = () => {
    const lines = state.stderr.trim().split('\n');
    return (lines.findLast((l) => /error|fatal|:\d+:\d+/i.test(l) && !/^\s+at /.test(l)) ?? lines.at(-1)).slice(0, 200);
  };
  const obituary = () =>
    `the process ended (${state.exit?.error ?? state.exit?.signal ?? `exit ${state.exit?.code}`})${state.stderr.trim() ? `: ${lastWords()}` : ''}`;
  // Waiting for a process that has exited fails at once.
  function wakeAll() {
    for (const { done, timer } of waiting.values()) {
      clearTimeout(timer);
      done({ msg: { none: obituary() } });
    }
    waiting.clear();
    for (const watcher of [...watchers]) watcher(undefined);
  }

  function onLine(line) {
    let msg;
    try {
      msg = JSON.parse(line);
    } catch {
      msg = undefined;
    }
    const seen = { line, msg };
    state.lines.push(seen);
    const index = state.lines.length - 1;
    if (msg && msg.method === undefined && waiting.has(msg.id)) {
      const { done, timer } = waiting.get(msg.id);
      waiting.delete(msg.id);
      clearTimeout(timer);
      done({ ...seen, index });
    } else if (msg && msg.method !== undefined && msg.id !== undefined) {
      const handler = handlers.get(msg.method);
      if (handler)
        void Promise.resolve(handler(msg, index)).then((answer) => {
          if (answer === undefined) return;
          if (answer.raw) raw(answer.raw);
          else send({ jsonrpc: '2.0', id: msg.id, ...(answer.error ? { error: answer.error } : { result: answer.result }) });
        });
      else send({ jsonrpc: '2.0', id: msg.id, error: { code: -32601, message: 'Method not found' } });
    }
    for (const watcher of [...watchers]) watcher(seen);
  }
  const raw = (text) => child.stdin.write(text.endsWith('\n') ? text : `${text}\n`);
  const send = (msg) => raw(JSON.stringify(msg));
  const peer = {
    child,
    state,
    raw,
    send,
    exited,
    closed,
    on: (method, handler) => handlers.set(method, handler),
    notify: (method, params) => send({ jsonrpc: '2.0', method, params }),
    newId: () => nextId++,
    // Sends `line` (any text holding the request) and waits for the answer to `id`. Once something went unanswered, the rest gets less time.
    ask(id, line, what, timeoutMs = 15000) {
      return new Promise((done) => {
        const limit = impatient ? Math.min(timeoutMs, 4000) : timeoutMs;
        const timer = setTimeout(() => {
          waiting.delete(id);
          impatient = true;
          done({ msg: { none: `no answer to ${what} within ${limit} ms` } });
        }, limit);
        waiting.set(id, { done, timer });
        if (state.exit) setTimeout(wakeAll, 100);
        else raw(line);
      });
    },
    request: (method, params, { id = nextId++, timeoutMs } = {}) =>
      peer.ask(id, JSON.stringify({ jsonrpc: '2.0', id, method, params }), method, timeoutMs),
    until(test, timeoutMs = 10000) {
      const found = state.lines.find((seen) => test(seen));
      if (found || state.exit) return Promise.resolve(found);
      return new Promise((done) => {
        const finish = (value) => {
          watchers.delete(watch);
          clearTimeout(timer);
          done(value);
        };
        const watch = (seen) => {
          if (seen === undefined || test(seen)) finish(seen);
        };
        const timer = setTimeout(() => finish(undefined), timeoutMs);
        watchers.add(watch);
      });
    },
    updates: (sessionId) =>
      state.lines
        .filter(({ msg }) => msg?.method === 'session/update' && msg.params?.sessionId === sessionId)
        .map(({ msg }) => msg.params.update),
    answersTo: (id) => state.lines.filter(({ msg }) => msg && msg.method === undefined && msg.id === id).length,
    async stop(graceMs = 12000) {
      child.stdin.end();
      let timer;
      const first = await Promise.race([
        exited,
        new Promise((r) => {
          timer = setTimeout(r, outstayed ? 1500 : graceMs);
        }),
      ]);
      clearTimeout(timer);
      if (first) return first;
      outstayed = true;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {}
      return { ...(await exited), killed: true };
    },
  };
  return peer;
}

export const text = (t) => [{ type: 'text', text: t }];
export const textOf = (updates) =>
  updates
    .filter((u) => u.sessionUpdate === 'agent_message_chunk')
    .map((u) => u.content.text)
    .join('');
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export async function eventually(test, timeoutMs) {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await sleep(50)) if (test()) return true;
  return test();
}

// A list of checks: each has a name and a body that throws when it does not hold. CHECKS_ONLY=regex picks some by name.
export function createReport(title) {
  const rows = [];
  const begun = performance.now();
  const only = process.env.CHECKS_ONLY && new RegExp(process.env.CHECKS_ONLY);
  const budgetMs = Number(process.env.CHECKS_BUDGET_MS ?? 90000);
  const started = () => Math.round((performance.now() - begun) / 100) / 10;
  let noStart = 0; // a proxy that twice did not answer initialize is not tried again
  let given = false;
  return {
    async check(name, body, limitMs = 45000) {
      if (only && !only.test(name)) return;
      const from = performance.now();
      const row = { name };
      let timer;
      if (noStart >= 2) given = true;
      if (given) {
        rows.push(row);
        return;
      }
      try {
        if (from - begun > budgetMs) throw new Error(`not run: the suite is already at ${started()} s`);
        row.note = await Promise.race([
          body(),
          new Promise((_, no) => {
            timer = setTimeout(() => no(new Error(`not done within ${limitMs / 1000} s`)), limitMs);
          }),
        ]);
        row.ok = true;
      } catch (error) {
        row.why =
          String(error?.message ?? error)
            .replace(/\s+/g, ' ')
            .slice(0, 420) || String(error?.stack ?? 'no reason given');
      }
      clearTimeout(timer);
      rows.push(row);
      noStart = row.why?.startsWith('initialize: {"none"') ? noStart + 1 : 0;
      const ms = Math.round(performance.now() - from);
      if (!row.ok) console.log(`FAIL ${title}: ${name} :: ${row.why}`);
      else if (process.env.CHECKS_VERBOSE) console.log(`ok   ${title}: ${name} (${ms} ms${row.note ? `, ${row.note}` : ''})`);
    },
    giveUp: () => {
      given = true;
    }, // what follows would only repeat the failure
    finish() {
      const failed = rows.filter((row) => !row.ok).length;
      if (given) console.log(`FAIL ${title}: the rest was not run :: the proxy does not answer initialize`);
      console.log(`${title}: ${rows.length - failed} passed, ${failed} failed (${started()} s)`);
      process.exit(failed === 0 ? 0 : 1);
    },
  };
}
export function must(condition, message) {
  if (!condition) throw new Error(message || 'does not hold');
}
export function same(actual, expected, what) {
  const a = JSON.stringify(actual);
  const b = JSON.stringify(expected);
  if (a !== b) throw new Error(`${what}: got ${a?.slice(0, 180)}, want ${b?.slice(0, 180)}`);
}
