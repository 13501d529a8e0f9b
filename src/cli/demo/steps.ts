// One agent is killed in the middle of a turn. The other does not notice, and the first comes back with its session.
import { RequestError } from '@agentclientprotocol/sdk';
import { expect, type Stage } from './stage.ts';

type Self = { readonly pid: number; readonly sessionId: string; readonly turns: number };

export async function crash(stage: Stage): Promise<void> {
  const { page } = stage;
  page.heading('An agent is killed in the middle of a turn');
  const whoAmI = async () => JSON.parse(await stage.prompt('builder', '/whoami')) as Self;
  const before = await whoAmI();

  const isTalking = stage.spoke('builder');
  const [outcome, beside] = await Promise.all([
    stage.prompt('builder', '/slow 60').catch((error: unknown) => error),
    stage.prompt('sketcher', '/slow 0.5'),
    isTalking.then(() => {
      page.line('kill -9', `process ${before.pid}, which is builder`);
      process.kill(before.pid, 'SIGKILL');
    }),
  ]);
  expect(outcome instanceof RequestError, 'the open turn should have been answered with an error');
  page.line('error', outcome.message);
  const pieces = beside.trim().split('\n');
  expect(pieces.at(-1) === 'Done.', 'the other agent should have come to its end');
  page.line('sketcher', `was talking meanwhile: ${pieces.length} pieces, none lost`);

  const after = await whoAmI();
  expect(after.pid !== before.pid, 'the agent should be another process by now');
  expect(after.sessionId === before.sessionId && after.turns > before.turns, 'the session should be the same one, and go on');
  page.line('builder', `next prompt: process ${after.pid}, the same session, turn ${after.turns}`);
}
