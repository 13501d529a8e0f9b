// Sessions come back: after a kill of the agent, and in a new switchboard.
import { setTimeout } from 'node:timers/promises';
import { parentOf } from '../processes.mjs';

export async function crash(bench) {
  const client = await bench.start();
  const sessionId = await bench.open(client);
  await bench.prompt(client, sessionId, [{ say: 'before the crash' }]);
  const from = client.updates.length;
  const slow = bench.prompt(client, sessionId, [{ slow: 600 }]).then(
    ({ stopReason }) => `the interrupted turn ended with ${stopReason}`,
    ({ code }) => (code === -32603 ? undefined : `the interrupted turn failed with ${code}`),
  );
  await client.update(({ update }) => update.sessionUpdate === 'agent_message_chunk', from);
  for (const pid of bench.agentProcesses()) if (parentOf(pid) === client.child.pid) process.kill(pid, 'SIGKILL');
  const wrong = await slow;
  if (bench.recipe.loadsInNextMinute) await nextMinute();
  const { stopReason } = await bench.prompt(client, sessionId, [{ say: 'after the crash' }]);
  const isBack = stopReason === 'end_turn' && client.textOf(sessionId).includes('after the crash');
  const failed = [wrong, isBack ? undefined : `the next turn ended with ${stopReason}`].filter((text) => text !== undefined);
  return { ok: failed.length === 0, cell: failed.length === 0 ? 'yes' : 'no', notes: failed };
}

export async function load(bench) {
  const first = await bench.start();
  const sessionId = await bench.open(first);
  await bench.prompt(first, sessionId, [{ write: bench.file('early.txt') }, { say: 'the first answer' }]);
  await first.close();
  if (bench.recipe.loadsInNextMinute) await nextMinute();
  const second = await bench.start();
  await second.request('session/load', { sessionId, cwd: bench.cwd, mcpServers: [] });
  await bench.prompt(second, sessionId, [{ say: 'the second answer' }]);
  const prompts = second.updates.filter(
    ({ update }) => update.sessionUpdate === 'user_message_chunk' && JSON.stringify(update).includes('early.txt'),
  );
  const shown = second.textOf(sessionId).split('the first answer').length - 1;
  const isBack = second.textOf(sessionId).includes('the second answer');
  await second.close();
  const answers = bench.transcript(sessionId).filter((line) => !JSON.stringify(line).includes('<<script'));
  const recorded = JSON.stringify(answers).split('the first answer').length - 1;
  const isOnce = prompts.length === 1 && shown === 1;
  return {
    ok: isBack && isOnce && recorded === 1,
    cell: isBack ? 'yes' : 'no',
    replay: isOnce && recorded === 1 ? 'yes' : `prompt ${prompts.length}, answer ${shown}, transcript ${recorded} times`,
    notes: isOnce && recorded === 1 ? [] : [`prompt ${prompts.length}, answer ${shown}, transcript ${recorded} times`],
  };
}

const nextMinute = () => setTimeout(61_000 - (Date.now() % 60_000));
