// The agent of the load program in Node: it follows the instructions in the prompt.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { digest, eachLine, makeFrames, options } from './load-frames.mjs';

const breath = () => new Promise((resolve) => setImmediate(resolve));
const waiter = new Int32Array(new SharedArrayBuffer(4));

function write(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(waiter, 0, 0, 1);
    }
  }
}
const send = (message) => write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));

export function runAgent(name) {
  const sessions = new Map();
  let waiting = [];
  let onReply = () => {};
  let wake = () => {};

  function note(bytes, start, end) {
    const [, id] = /"sessionId":"([^"]*)"/.exec(bytes.toString('latin1', start, Math.min(end, start + 200))) ?? [];
    const session = sessions.get(id);
    if (session === undefined) return;
    session.expectedNotes ??= makeFrames('note', 0, id);
    const expected = session.expectedNotes(session.notes);
    if (bytes.compare(expected, 0, expected.length, start, end) !== 0) die(`note ${session.notes} is not the one expected`);
    session.notes++;
    session.noteDigest = digest(session.noteDigest, bytes, start, end);
    wake();
  }
  async function stream(part, prompts) {
    const { text, number } = options(part);
    const [kind, size, batch, pushes] = [text('kind') ?? 'small', number('size'), number('batch', 64), number('push')];
    const endless = text('until') === 'cancel';
    const frames = endless ? Number.POSITIVE_INFINITY : number('frames', 1000);
    for (const { session } of prompts) {
      if (session.kind !== `${kind} ${size}`) session.frame = makeFrames(kind, size, session.id);
      session.kind = `${kind} ${size}`;
    }
    let collected = [];
    const flush = async () => {
      write(collected.length === 1 ? collected[0] : Buffer.concat(collected));
      collected = [];
      if (endless || pushes > 0) await breath();
    };
    for (let seq = 0; seq < frames && !prompts[0].session.isCancelled; seq++)
      for (const { session } of prompts) {
        const frame = session.frame(seq);
        collected.push(batch === 1 || frame.length > 65536 ? frame : Buffer.from(frame));
        if (collected.length >= batch || frame.length > 65536) await flush();
      }
    if (collected.length > 0) await flush();
    for (const { session, id } of prompts) {
      while (session.notes < pushes)
        await new Promise((resolve) => {
          wake = resolve;
        });
      const bench = { notes: session.notes, digest: session.noteDigest };
      send({ id, result: { stopReason: session.isCancelled ? 'cancelled' : 'end_turn', _meta: { bench } } });
      Object.assign(session, { notes: 0, noteDigest: 0, isCancelled: false });
    }
  }
  async function ping(part, { session, id }) {
    const { number } = options(part);
    const until = performance.now() + number('ms', 3_600_000);
    const took = [];
    for (let n = 1; n <= number('n', 1 << 20) && performance.now() < until; n++) {
      const reply = new Promise((resolve) => {
        onReply = resolve;
      });
      const from = process.hrtime.bigint();
      send({ id: 99 + n, method: 'fs/read_text_file', params: { sessionId: session.id, path: '/bench/file.txt', line: n } });
      const content = await reply;
      took.push(Number(process.hrtime.bigint() - from));
      if (content !== `line ${n} of the file`) die(`expected line ${n}, got ${content}`);
      if (number('pause') > 0) await sleep(number('pause') / 1000);
    }
    took.sort((a, b) => a - b);
    const at = (share) => took[Math.floor((took.length - 1) * share)] ?? 0;
    const bench = { n: took.length, min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
    send({ id, result: { stopReason: 'end_turn', _meta: { bench } } });
  }
  function prompt({ id, params }) {
    const session = sessions.get(params.sessionId);
    if (session === undefined) return send({ id, error: { code: -32002, message: 'no such session' } });
    const part = params.prompt[0].text;
    const { text, number } = options(part);
    if (text('do') === 'ping') return void ping(part, { session, id });
    if (text('do') === 'stop-reading') return void process.stdin.pause();
    waiting.push({ session, id });
    if (waiting.length < number('group', 1)) return;
    const prompts = waiting;
    waiting = [];
    void stream(part, prompts);
  }
  function request(message) {
    const { id, method, params } = message;
    if (method === 'session/prompt') return prompt(message);
    if (method === 'session/cancel') {
      const session = sessions.get(params.sessionId);
      if (session !== undefined) session.isCancelled = true;
      return;
    }
    if (method === 'initialize')
      return send({
        id,
        result: {
          protocolVersion: 1,
          agentCapabilities: { loadSession: false, promptCapabilities: { embeddedContext: true } },
          authMethods: [],
          agentInfo: { name: 'load-agent', version: '1.0.0' },
        },
      });
    if (method !== 'session/new') return id !== undefined && send({ id, error: { code: -32601, message: 'no such method' } });
    const sessionId = `ses_${name}_7f3a9c_${String(sessions.size).padStart(8, '0')}`;
    sessions.set(sessionId, { id: sessionId, notes: 0, noteDigest: 0, isCancelled: false });
    send({ id, result: { sessionId } });
  }

  const NOTE = Buffer.from('"method":"_bench/note"');
  process.stdin.on(
    'data',
    eachLine((bytes, start, end) => {
      const place = bytes.indexOf(NOTE, start);
      if (place !== -1 && place < end) return note(bytes, start, end);
      const message = JSON.parse(bytes.toString('utf8', start, end));
      if (message.method === undefined) onReply(message.result?.content);
      else request(message);
    }),
  );
  process.stdin.on('end', () => process.exit(0));
}

function die(why) {
  process.stderr.write(`load agent: ${why}\n`);
  process.exit(3);
}
