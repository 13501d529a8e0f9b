// The editor goes, and with it everything that was started.
import { processTree, stillAlive } from './process-tree.ts';
import { expect, type Stage } from './stage.ts';

export async function theEnd({ page, editor }: Stage): Promise<void> {
  page.heading('The editor goes: stdin is closed');
  const processes = await processTree(editor.pid);
  const startedAt = performance.now();
  const code = await editor.stop();
  expect(code === 0, code === null ? 'switchboard acp did not end by itself' : `switchboard acp ended with exit code ${code}`);
  const ms = Math.round(performance.now() - startedAt);
  if (!processes) return page.line('ended', `exit code 0 after ${ms} ms`);
  const left = stillAlive(processes);
  page.line('before', `${processes.length} processes: switchboard, its agents and what they have started`);
  page.line('after', `exit code 0 after ${ms} ms, processes left: ${left.length || 'none'}`);
  expect(left.length === 0, `these processes are still there: ${left.join(', ')}`);
}
