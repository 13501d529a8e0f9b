// Transcripts of turns, written from the client's frames.
import { appendFileSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { readStats } from '../../../src/store/transcripts/session-stats.ts';
import { pruneTranscripts, readTranscript, transcriptFile } from '../../../src/store/transcripts/transcript-files.ts';
import { createTranscriptObserver } from '../../../src/store/transcripts/transcript-observer.ts';
import { createConnection } from '../../../src/wire/connection.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import type { FrameBatch } from '../../../src/wire/scanner/frame-batch.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import type { Patch } from '../../../src/wire/writer.ts';
import { createRecorder } from '../../wire/outputs.ts';
import { newStateDir, noProblem } from '../state.ts';

const scanner = new Scanner();

/** Redacts the word SECRET, also in pieces. */
const clean = {
  text: (text: string) => text.replaceAll('SECRET', '[redacted]'),
  longest: () => 10,
  pieces: () => ({ update: (_: string, one: Readonly<Record<string, unknown>>) => one }),
  json: (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('SECRET', '[redacted]')),
  stream() {
    let held = '';
    return {
      push(text: string) {
        held += text;
        return '';
      },
      end: () => held.replaceAll('SECRET', '[redacted]'),
    };
  },
};

/** The client's connection: frames from the client and to the client. */
function setUp(dir = newStateDir(), tickMs = 1) {
  let t = 0;
  const now = () => {
    t += tickMs;
    return t;
  };
  const observer = createTranscriptObserver({ dir, clean, now, onProblem: noProblem });
  const input = new PassThrough();
  const agent = new PassThrough();
  const frames: (Frame | FrameBatch)[] = [];
  const on = { frame: () => {}, refused: () => {}, oversized: () => {}, end: () => {} };
  const { writer } = createConnection(input, createRecorder().output, { scanner, maxFrameBytes: 1 << 24, observer }, on);
  createConnection(
    agent,
    createRecorder().output,
    { scanner, maxFrameBytes: 1 << 24 },
    { ...on, frame: (frame) => void frames.push(frame), batch: (batch) => frames.push(batch) > 0 },
  );
  const text = (message: unknown) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`;
  return {
    dir,
    async fromClient(...messages: readonly unknown[]) {
      input.write(messages.map(text).join(''));
      await new Promise(setImmediate);
    },
    async toClient(...messages: readonly unknown[]) {
      agent.write(messages.map(text).join(''));
      await new Promise(setImmediate);
      for (const one of frames.splice(0)) 'ends' in one ? writer.batch(one) : writer.frame(one);
      await new Promise(setImmediate);
    },
    async toClientPatched(message: unknown, patches: (frame: Frame) => readonly Patch[]) {
      agent.write(text(message));
      await new Promise(setImmediate);
      for (const frame of frames.splice(0) as Frame[]) writer.frame(frame, patches(frame));
      await new Promise(setImmediate);
    },
    line: (message: unknown) => writer.line(text(message)),
    transcript(sessionId = 's') {
      observer.close();
      return (readTranscript(dir, sessionId) ?? []).map(({ t: _, ...rest }) => rest);
    },
  };
}
const update = (kind: string, more: object) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate: kind, ...more } },
});
const chunk = (text: string, kind = 'agent_message_chunk') => update(kind, { content: { type: 'text', text } });
const request = (id: unknown, method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { sessionId: 's', ...params },
});
const result = (id: unknown, value: object) => ({ jsonrpc: '2.0', id, result: value });
const prompt = (id: unknown, text: string) => request(id, 'session/prompt', { prompt: [{ type: 'text', text }] });

describe('a turn', () => {
  test('is the same whether its chunks come one by one or many at a time', async () => {
    const parts = ['one ', 'SEC', 'RET ', '', 'é "two"\n', '\\', ...Array.from({ length: 400 }, (_, k) => `part ${k} `)];
    const messages = [...parts.map((text) => chunk(text)), ...parts.map((text) => chunk(text, 'agent_thought_chunk'))];
    const [together, apart] = [setUp(), setUp()];
    await together.toClient(...messages, ...messages);
    for (const message of [...messages, ...messages]) await apart.toClient(message);
    const texts = together.transcript();
    expect(texts.map((entry) => [entry.kind, 'role' in entry && entry.role])).toEqual([
      ...[
        ['message', 'agent'],
        ['message', 'thought'],
        ['message', 'agent'],
        ['message', 'thought'],
      ],
    ]);
    expect(texts).toEqual(apart.transcript());
    expect(texts[0]).toMatchObject({ text: parts.join('').replaceAll('SECRET', '[redacted]') });
  });

  test('keeps its chunks apart from those of another session that come in between', async () => {
    const { toClient, transcript } = setUp();
    const of = (sessionId: string, text: string) => ({ ...chunk(text), params: { ...chunk(text).params, sessionId } });
    const parts = Array.from({ length: 300 }, (_, k) => `part ${k} é"`);
    for (let n = 0; n < 2; n++) await toClient(...parts.flatMap((part) => ['s', 't', 'u'].map((id) => of(id, `${part}${id} `))));
    for (const id of ['s', 't', 'u']) {
      const text = parts.map((part) => `${part}${id} `).join('');
      expect(transcript(id)).toEqual([{ kind: 'message', role: 'agent', text: text.repeat(2) }]);
    }
  });

  test('updates that differ in one text and are no chunks are read one by one', async () => {
    const { toClient, transcript } = setUp();
    const titles = ['a', 'b', 'c', 'd'].map((title) => update('session_info_update', { title }));
    await toClient(...titles, ...titles);
    expect(transcript()).toEqual(
      [...titles, ...titles].map(({ params }) => ({ kind: 'title', title: (params.update as { title?: string }).title })),
    );
  });

  test('has the prompt, whole messages and the stop reason', async () => {
    const { fromClient, toClient, transcript, dir } = setUp();
    await fromClient(prompt(1, 'do it'));
    await toClient(
      chunk('think\\ing ', 'agent_thought_chunk'),
      chunk('hard', 'agent_thought_chunk'),
      chunk('one "'),
      chunk('two" é\n'),
      chunk('three'),
    );
    await toClient(result(1, { stopReason: 'end_turn', usage: { totalTokens: 7 } }));
    expect(transcript()).toEqual([
      { kind: 'prompt', text: 'do it' },
      { kind: 'message', role: 'thought', text: 'think\\ing hard' },
      { kind: 'message', role: 'agent', text: 'one "two" é\nthree' },
      { kind: 'turn', stopReason: 'end_turn', usage: { totalTokens: 7 } },
    ]);
    expect([...readStats(dir)]).toMatchObject([['s', { turns: 1, stopReason: 'end_turn', usage: { totalTokens: 7 } }]]);
  });

  test('turns that end in the same millisecond are two turns', async () => {
    const { dir, fromClient, toClient, transcript } = setUp(newStateDir(), 0);
    for (const id of [1, 2]) {
      await fromClient(prompt(id, 'again'));
      await toClient(result(id, { stopReason: 'end_turn' }));
    }
    expect(transcript().map(({ kind }: { kind: string }) => kind)).toEqual(['prompt', 'turn', 'prompt', 'turn']);
    expect(readStats(dir).get('s')).toMatchObject({ turns: 2, stopReasons: { end_turn: 2 } });
  });

  test('has the final state of its tool calls, permissions, plans, modes and titles', async () => {
    const { fromClient, toClient, transcript } = setUp();
    const diff = [{ type: 'diff', path: '/x', oldText: 'a', newText: 'b' }];
    await fromClient(prompt(1, 'do it'));
    await toClient(
      update('tool_call', { toolCallId: 't', title: 'Edit', kind: 'edit', status: 'pending' }),
      request(9, 'session/request_permission', {
        toolCall: { toolCallId: 't', title: 'Edit' },
        options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }],
      }),
    );
    await fromClient(result(9, { outcome: { outcome: 'selected', optionId: 'y' } }));
    await toClient(
      update('tool_call_update', { toolCallId: 't', status: 'completed', content: diff }),
      update('tool_call', { toolCallId: 'open', title: 'Run' }),
      update('plan', { entries: [{ content: 'one' }] }),
      update('current_mode_update', { currentModeId: 'code' }),
      update('session_info_update', { title: 'A title' }),
    );
    await toClient(result(1, { stopReason: 'cancelled' }));
    expect(transcript()).toEqual([
      { kind: 'prompt', text: 'do it' },
      {
        kind: 'permission',
        toolCallId: 't',
        title: 'Edit',
        outcome: 'selected',
        option: { optionId: 'y', name: 'Yes', kind: 'allow_once' },
      },
      { kind: 'tool', toolCallId: 't', title: 'Edit', toolKind: 'edit', status: 'completed', content: diff },
      { kind: 'plan', entries: [{ content: 'one' }] },
      { kind: 'mode', modeId: 'code' },
      { kind: 'title', title: 'A title' },
      { kind: 'tool', toolCallId: 'open', title: 'Run' },
      { kind: 'turn', stopReason: 'cancelled' },
    ]);
  });

  test('that fails ends with the error message, also with one of our own', async () => {
    const { fromClient, line, transcript } = setUp();
    await fromClient(prompt('x', 'do it'));
    line({ jsonrpc: '2.0', id: 'x', error: { code: -32603, message: 'it died of SECRET' } });
    expect(transcript()).toEqual([
      { kind: 'prompt', text: 'do it' },
      { kind: 'turn', error: 'it died of [redacted]' },
    ]);
  });

  test('contains no secret, neither whole nor in pieces', async () => {
    const { fromClient, toClient, transcript } = setUp();
    await fromClient(prompt(1, 'my SECRET'));
    await toClient(chunk('your SEC'), chunk('RET'), update('tool_call', { toolCallId: 't', title: 'SECRET', status: 'failed' }));
    expect(JSON.stringify(transcript())).not.toMatch(/SEC|RET/);
  });
});

test('a message is the same however its chunks are formatted', async () => {
  const { toClient, toClientPatched, transcript } = setUp();
  await toClient(
    chunk('a'),
    '{"method":"session/update","params":{"update":{"content":{"text":"b","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"s"},"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c\\u00e9","x":"}"}}}}',
  );
  // An id that the proxy replaced counts as the client sees it.
  await toClientPatched({ ...chunk('d'), params: { ...chunk('d').params, sessionId: 'native' } }, ({ sessionId }) =>
    sessionId ? [{ span: sessionId, text: '"s"' }] : [],
  );
  expect(transcript()).toEqual([{ kind: 'message', role: 'agent', text: 'abcéd' }]);
});

test('a long list of commands leaves no trace', async () => {
  const { toClient, transcript } = setUp();
  const availableCommands = Array.from({ length: 5000 }, (_, n) => ({ name: `c${n}`, description: 'd'.repeat(100) }));
  await toClient(update('available_commands_update', { availableCommands }), chunk('hello'));
  expect(transcript()).toEqual([{ kind: 'message', role: 'agent', text: 'hello' }]);
});

test('a long message is kept whole, an oversized frame is not', async () => {
  const { toClient, transcript } = setUp();
  const words = Array.from({ length: 3000 }, (_, n) => `word ${n} "é"\n`);
  await toClient(
    ...words.map((word) => chunk(word)),
    chunk('x'.repeat(100_000)),
    update('tool_call', { toolCallId: 't', title: 'y'.repeat(300_000) }),
  );
  const all = transcript();
  const text = all.map((entry) => (entry.kind === 'message' ? entry.text : '')).join('');
  expect(text).toBe(words.join('') + 'x'.repeat(100_000));
  expect(all.at(-1)).toMatchObject({ kind: 'omitted', bytes: expect.any(Number) });
});

test('updates replayed by a load are not written twice, except those that are new', async () => {
  const first = setUp();
  await first.fromClient(request(1, 'session/load', { cwd: '/w' }));
  await first.toClient(chunk('old words'), result(1, {}));
  expect(first.transcript()).toEqual([
    { kind: 'message', role: 'agent', text: 'old words' },
    { kind: 'opened', sessionId: 's', method: 'session/load', cwd: '/w' },
  ]);
  const second = setUp(first.dir);
  await second.fromClient(request(1, 'session/load', { cwd: '/w' }));
  await second.toClient(chunk('old words'), result(1, {}), chunk('new words'));
  expect(
    second
      .transcript()
      .filter(({ kind }) => kind === 'message')
      .map((entry) => 'text' in entry && entry.text),
  ).toEqual(['old words', 'new words']);
});

describe('the file', () => {
  test('is private, and is named after the session only if that is a plain name', async () => {
    const { fromClient, dir, transcript } = setUp();
    const odd = '../../etc/passwd';
    await fromClient({ ...prompt(1, 'x'), params: { ...prompt(1, 'x').params, sessionId: odd } });
    expect(transcript(odd)).toEqual([{ kind: 'prompt', text: 'x' }]);
    expect(transcriptFile(dir, odd)).toMatch(/\/~[0-9a-f]{32}\.jsonl$/);
    expect(statSync(transcriptFile(dir, odd)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('survives a process that was killed in the middle of a line', async () => {
    const first = setUp();
    await first.fromClient(prompt(1, 'one'));
    expect(first.transcript()).toHaveLength(1);
    appendFileSync(transcriptFile(first.dir, 's'), '{"t":5,"kind":"mess');
    const second = setUp(first.dir);
    await second.fromClient(prompt(1, 'two'));
    expect(second.transcript()).toEqual([
      { kind: 'prompt', text: 'one' },
      { kind: 'prompt', text: 'two' },
    ]);
    expect(readFileSync(transcriptFile(first.dir, 's'), 'utf8')).toMatch(/"mess\n/);
  });

  test('is deleted if it is too old, or the oldest of too many', async () => {
    const { dir, fromClient, transcript } = setUp();
    await fromClient(prompt(1, 'one'));
    transcript();
    for (const [name, at] of [
      ['a', 1000],
      ['b', 2000],
      ['c', 3000],
    ] as const) {
      writeFileSync(transcriptFile(dir, name), 'x'.repeat(100));
      utimesSync(transcriptFile(dir, name), at, at);
    }
    utimesSync(transcriptFile(dir, 's'), 3000, 3000);
    pruneTranscripts(dir, { maxAgeMs: 1_500_000, maxTotalBytes: 1000 }, 3_000_000);
    expect(['a', 'b', 'c', 's'].map((name) => readTranscript(dir, name) !== undefined)).toEqual([false, true, true, true]);
    pruneTranscripts(dir, { maxAgeMs: 1_500_000, maxTotalBytes: 200 }, 3_000_000);
    expect(readTranscript(dir, 'b')).toBeUndefined();
  });
});

test('a secret in a long message is found anywhere, also with escaped letters', async () => {
  const { toClient, transcript } = setUp();
  const filler = Array.from({ length: 1500 }, (_, n) => chunk(`some words ${n} "and" more; `.repeat(3)));
  await toClient(
    ...filler,
    chunk('it is SEC'),
    chunk('RET, you see. '),
    ...filler,
    JSON.stringify(chunk('and SECRET too')).replace('SECRET', '\\u0053ECRET'),
  );
  const text = transcript()
    .map((entry) => (entry.kind === 'message' ? entry.text : ''))
    .join('');
  expect(text.length).toBeGreaterThan(200_000);
  expect(text).not.toMatch(/SEC|RET/);
  expect(text).toContain('it is [redacted], you see.');
  expect(text).toMatch(/and \[redacted\] too$/);
});

test('an endless message is kept up to a megabyte, and omitted bytes are counted', async () => {
  const { toClient, transcript } = setUp();
  await toClient(...Array.from({ length: 30 }, () => chunk('many words, '.repeat(5000))));
  const all = transcript();
  const kept = all.map((entry) => (entry.kind === 'message' ? entry.text : '')).join('');
  expect(kept.length).toBe(17 * 60_000);
  expect(all.at(-1)).toEqual({ kind: 'omitted', bytes: 13 * 60_000 });
});

test('prompts without a response are written and not kept in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { fromClient, transcript } = setUp();
  const prompt = (id: number) => request(id, 'session/prompt', { prompt: [{ type: 'text', text: String(id).padEnd(200_000, '.') }] });
  await fromClient(prompt(0));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let id = 1; id <= 200; id++) await fromClient(prompt(id));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8e6); // of 40 MB
  expect(transcript().map(({ kind }) => kind)).toEqual(new Array(201).fill('prompt'));
});
