// Recordings: written without secrets, and replayed.
import { describe, expect, test } from 'vitest';
import { createRecordingWriter, type Message, parseRecording, type Recorded } from '../../../src/store/recordings/recording.ts';
import { createPlayer } from '../../../src/store/recordings/replay.ts';

const entry = (dir: Recorded['dir'], msg: Message, t = 0): Recorded => ({ t, proc: 1, dir, n: 1, msg });
const fromAgent = (msg: Message, t?: number) => entry('agent->client', msg, t);
const toAgent = (msg: Message, t?: number) => entry('client->agent', msg, t);
const chunk = (text: string, sessionId = 's') => ({
  method: 'session/update',
  params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
});
const request = (id: unknown, method: string, params: object = {}) => ({ id, method, params });
const prompt = (id: unknown, text: string, sessionId = 's') =>
  request(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] });

const clean = {
  json: (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('SECRET', '[redacted]')),
  text: (text: string) => text.replaceAll('SECRET', '[redacted]'),
  pieces: () => ({ message: (_: string, message: Message) => message }),
};
function written(...entries: readonly Recorded[]): readonly Message[] {
  let text = '';
  const writer = createRecordingWriter(clean, (line) => {
    text += line;
  });
  for (const one of entries) writer.add(one);
  writer.end();
  return parseRecording(text).map(({ msg }) => msg);
}

describe('a recording', () => {
  test('has every frame unchanged if it contains no secret', () => {
    const entries = [
      toAgent(prompt(1, 'x')),
      fromAgent(chunk('a')),
      fromAgent(chunk('b', 'other')),
      fromAgent(chunk('c')),
      fromAgent({ id: 1, result: {} }),
    ];
    expect(written(...entries)).toEqual(entries.map(({ msg }) => msg));
  });
  test('has no secret, even if it is split across chunks with another session in between', () => {
    expect(
      written(fromAgent(chunk('it is SEC')), fromAgent(chunk('words', 'other')), fromAgent(chunk('RET')), toAgent(prompt(1, 'a SECRET'))),
    ).toEqual([chunk('it is [redacted]'), chunk('words', 'other'), prompt(1, 'a [redacted]')]);
  });
  test.each(['no JSON', '{"t":1}', '[]'])('is not %s', (line) => {
    expect(() => parseRecording(`${JSON.stringify(fromAgent({}))}\n${line}\n`)).toThrow('line 2');
  });
});

/** Replays without delays and collects the output. */
function play(entries: readonly Recorded[], strict = false) {
  const sent: Message[] = [];
  const differences: string[] = [];
  const player = createPlayer(entries, {
    strict,
    send: (message) => sent.push(message),
    after: (_, then) => then(),
    onDifference: (what) => differences.push(what),
  });
  return {
    differences,
    /** Sends a message and returns the output. */
    to(message: Message): readonly Message[] {
      player.hear(message);
      return sent.splice(0);
    },
    end: () => player.end(),
  };
}
const OPENED = [
  toAgent(request(0, 'initialize')),
  fromAgent({ id: 0, result: { protocolVersion: 1 } }),
  toAgent(request(1, 'session/new')),
  fromAgent({ id: 1, result: { sessionId: 's' } }),
];

describe('a replayed recording', () => {
  test("answers each request with the recorded response, under the request's own id", () => {
    const { to } = play([
      ...OPENED,
      toAgent(prompt(2, 'x')),
      fromAgent(chunk('a')),
      fromAgent({ id: 2, result: { stopReason: 'end_turn' } }),
    ]);
    expect(to(request('A', 'initialize'))).toEqual([{ id: 'A', result: { protocolVersion: 1 } }]);
    expect(to(request('B', 'session/new'))).toEqual([{ id: 'B', result: { sessionId: 's' } }]);
    expect(to(prompt('C', 'anything'))).toEqual([chunk('a'), { id: 'C', result: { stopReason: 'end_turn' } }]);
  });

  test("sends the agent's requests, and continues when they are answered", () => {
    const { to } = play([
      ...OPENED,
      toAgent(prompt(2, 'x')),
      fromAgent(request(7, 'fs/read_text_file', { sessionId: 's' })),
      toAgent({ id: 7, result: { content: '' } }),
      fromAgent({ id: 2, result: {} }),
    ]);
    to(request(0, 'initialize'));
    to(request(1, 'session/new'));
    const [asked] = to(prompt(5, 'x'));
    expect(asked).toMatchObject({ method: 'fs/read_text_file' });
    expect(to({ id: asked?.id, result: { content: 'other' } })).toEqual([{ id: 5, result: {} }]);
  });

  test('keeps sessions apart, in any order', () => {
    const second = [toAgent(request(2, 'session/new')), fromAgent({ id: 2, result: { sessionId: 'z' } })];
    const turns = [
      toAgent(prompt(3, 'x')),
      toAgent(prompt(4, 'y', 'z')),
      fromAgent(chunk('of s')),
      fromAgent({ id: 4, result: { of: 'z' } }),
      fromAgent({ id: 3, result: { of: 's' } }),
    ];
    const { to } = play([...OPENED, ...second, ...turns]);
    for (const id of [1, 2]) to(request(id, 'session/new'));
    expect(to(prompt('b', 'y', 'z'))).toEqual([{ id: 'b', result: { of: 'z' } }]);
    expect(to(prompt('a', 'x'))).toEqual([chunk('of s'), { id: 'a', result: { of: 's' } }]);
  });

  test('waits for a recorded cancel, and skips what the client leaves out', () => {
    const turn = [
      toAgent(request(2, 'session/set_mode', { sessionId: 's' })),
      fromAgent({ id: 2, result: {} }),
      toAgent(prompt(3, 'x')),
      fromAgent(chunk('a')),
    ];
    const cancel = { method: 'session/cancel', params: { sessionId: 's' } };
    const { to } = play([...OPENED, ...turn, toAgent(cancel), fromAgent({ id: 3, result: { stopReason: 'cancelled' } })]);
    to(request(1, 'session/new'));
    expect(to(prompt('p', 'x'))).toEqual([chunk('a')]);
    expect(to(cancel)).toEqual([{ id: 'p', result: { stopReason: 'cancelled' } }]);
  });

  test('is loaded under another session id', () => {
    const { to } = play([
      toAgent(request(1, 'session/load', { sessionId: 's' })),
      fromAgent(chunk('old')),
      fromAgent({ id: 1, result: {} }),
    ]);
    expect(to(request('L', 'session/load', { sessionId: 'mine' }))).toEqual([chunk('old', 'mine'), { id: 'L', result: {} }]);
  });

  test('refuses an unrecorded request and names it', () => {
    const { to } = play(OPENED);
    expect(to(request(9, 'session/fork'))).toMatchObject([{ id: 9, error: { message: expect.stringContaining('session/fork') } }]);
    expect(to(request(1, 'session/new'))).toHaveLength(1);
    expect(to(request(2, 'session/new'))).toMatchObject([{ error: {} }]);
  });

  test('reports the first difference in strict mode; a redacted value differs from nothing', () => {
    const { to, differences, end } = play([...OPENED, toAgent(prompt(2, '[redacted:K]')), fromAgent({ id: 2, result: {} })], true);
    to(request(0, 'initialize'));
    to(request(1, 'session/new'));
    to(prompt(2, 'my secret'));
    expect(end()).toBeUndefined();
    to(prompt(3, 'once more'));
    to(request(4, 'session/new'));
    expect(differences).toEqual([expect.stringContaining('session/prompt')]);
    expect(end()).toContain('session/prompt');
  });
});
