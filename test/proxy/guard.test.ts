// The guard between an editor and agents, where it depends on what comes when.
import { expect, test } from 'vitest';
import { open, UNANSWERED } from '../e2e/harness.ts';
import { execution, selected } from '../e2e/policy-support.ts';
import { createStillClock } from '../faults/in-process.ts';
import { able, CWD, connection } from './actors.ts';
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
