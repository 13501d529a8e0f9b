// An agent that refuses to resume a session and can load it: the session comes back, and nobody sees its replay.
import { expect, test } from 'vitest';
import { open, prompt, Refusal, UNANSWERED } from '../e2e/harness.ts';
import { createStillClock } from '../faults/in-process.ts';
import { type Actor, able, CWD, chunk, connected, connection, end } from './actors.ts';

/** Resumes nothing; what it loads it replays. */
function onlyLoads(name: string, code = -32603): Actor {
  const actor = able(name);
  actor.on('session/resume', () => {
    throw new Refusal(code, 'not like this');
  });
  actor.on('session/load', ({ sessionId }) => {
    actor.notify('session/update', { sessionId, update: chunk('of old; ') });
    return {};
  });
  return actor;
}

test('a resume of the editor that is refused is tried as a load, whose replay is withheld', async () => {
  const left = onlyLoads('left');
  const editor = await connected([left, able('right')]);
  const { id } = await open(editor, CWD, 'left');
  expect((await editor.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] })).error).toBeUndefined();
  expect((await prompt(editor, id, 'hello')).result).toEqual(end);
  expect(editor.said(id)).toBe('left heard hello');
  expect([left.all('session/resume').length, left.all('session/load').length]).toEqual([1, 1]);
});

test('so is the resume that brings a session back after a crash', async () => {
  const left = onlyLoads('left');
  const editor = await connected([left, able('right')]);
  const { id } = await open(editor, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect((await prompt(editor, id, 'hello')).result).toEqual(end);
  expect(editor.said(id)).toBe('left heard hello');
});

test('an agent that wants a login first is not asked again another way, and its answer passes', async () => {
  const left = onlyLoads('left', -32000);
  const editor = await connected([left, able('right')]);
  const { id } = await open(editor, CWD, 'left');
  const { error } = await editor.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: 'not like this' });
  expect(left.all('session/load')).toEqual([]);
});

test('refused both ways, the last answer passes', async () => {
  const left = onlyLoads('left');
  left.on('session/load', () => {
    throw new Refusal(-32002, 'no such session');
  });
  const editor = await connected([left, able('right')]);
  const { id } = await open(editor, CWD, 'left');
  const { error } = await editor.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  expect(error).toMatchObject({ code: -32002, message: 'no such session' });
});

test('with one agent, its refusal is its own', async () => {
  const only = onlyLoads('only');
  const editor = await connected([only]);
  const { id } = await open(editor, CWD);
  expect((await editor.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] })).error.message).toBe('not like this');
  expect(only.all('session/load')).toEqual([]);
});

test('the replay of a load that took too long to bring a session back is withheld, however late it comes', async () => {
  const clock = createStillClock();
  const left = able('left', { loadSession: true });
  const { editor } = await connection([left, able('right')], {}, { clock });
  const { id } = await open(editor, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  left.on('session/load', () => UNANSWERED);
  const turn = prompt(editor, id, 'hello');
  const asked = await left.got('session/load');
  clock.advance(30_000);
  expect((await turn).error.message).toContain('no answer to session/load within 30000 ms');
  left.notify('session/update', { sessionId: id, update: chunk('of old; ') });
  left.reply(asked.msg, {});
  left.notify('session/update', { sessionId: id, update: chunk('of now') });
  await editor.until((msg) => msg.params?.update?.content?.text === 'of now');
  expect(editor.said(id)).toBe('of now');
});
