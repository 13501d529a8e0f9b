// The guard between an editor and agents, where it depends on what comes when.
import { expect, test } from 'vitest';
import { choosing, open, UNANSWERED } from '../e2e/harness.ts';
import { execution, selected } from '../e2e/policy-support.ts';
import { createStillClock } from '../faults/in-process.ts';
import { type Actor, able, CWD, chunk, connection } from './actors.ts';
import { memoryGuard } from './memory-guard.ts';

const LIMIT_MS = 20_000;

test.each(['dies', 'takes it back too'])(
  'a question that was not answered in time is taken back at the editor once, also when its agent then %s',
  async (what) => {
    const clock = createStillClock();
    const { guard } = memoryGuard({ limits: { permission_timeout: `${LIMIT_MS}ms` } });
    const agents = [able('left'), able('right')] as const;
    const [left] = agents;
    const { editor } = await connection(agents, {}, { clock, guard });
    editor.on('session/request_permission', () => UNANSWERED);
    const { id } = await open(editor, CWD, 'left');
    const answer = left.call('session/request_permission', execution(id, 'make'), 'asked');
    const question = await editor.got('session/request_permission');
    clock.advance(LIMIT_MS);
    expect(await answer).toEqual(selected('r1'));
    if (what === 'dies') left.exit({ kind: 'exited', code: 1, signal: null });
    else left.notify('$/cancel_request', { requestId: 'asked' });
    await open(editor, CWD, 'left'); // behind all of that
    expect(editor.all('$/cancel_request').map(({ msg }) => msg.params)).toEqual([{ requestId: question.msg.id }]);
  },
);

const MODES = { currentModeId: 'yolo', availableModes: [{ id: 'yolo', name: 'Yolo' }] };

test('what an agent says of a session that was refused for its mode is for nobody, and its questions there are answered', async () => {
  const { guard } = memoryGuard({ agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  left.on('session/new', () => ({ sessionId: 'free', modes: MODES }));
  const { editor } = await connection(agents, {}, { guard });
  expect((await editor.refused('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') })).message).toContain('is refused');
  expect((await left.got('session/close')).msg.params).toEqual({ sessionId: 'free' });
  left.notify('session/update', { sessionId: 'free', update: chunk('unheard') });
  expect((await left.refused('session/request_permission', execution('free', 'make'))).code).toBe(-32002);
  expect([editor.said('free'), editor.all('session/request_permission')]).toEqual(['', []]);
});

test.each([1, 2])('a refused mode is not set by a notification either, with %i agents', async (count) => {
  const { guard, entries } = memoryGuard({ agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const agents = [able('left'), able('right')].slice(0, count);
  const [left] = agents as [Actor];
  const { editor } = await connection(agents, {}, { guard });
  const { id } = await open(editor, CWD);
  for (const modeId of ['yolo', 'plan']) editor.notify('session/set_mode', { sessionId: id, modeId });
  expect((await left.got('session/set_mode')).msg.params.modeId).toBe('plan');
  expect(entries.map(({ verdict, option }) => [verdict, option])).toEqual([
    ['deny', 'refused'],
    ['ask', 'passed'],
  ]);
});
