// How much is said, changed while sessions go on.
import { expect, test } from 'vitest';
import { createHome, INITIALIZE, type Running } from './command.ts';

/** Resolves when stderr has said it once more. */
function heard({ child }: Running, words: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (text: string) => {
      if (!text.includes(words)) return;
      child.stderr.off('data', look);
      resolve();
    };
    child.stderr.on('data', look);
  });
}

test.skipIf(process.platform === 'win32')('SIGUSR2 has everything said until the next one', async () => {
  const home = createHome();
  const running = home.start(['acp', '--log-level', 'error']);
  await running.request('initialize', INITIALIZE);
  const toggle = async () => {
    running.child.kill('SIGUSR2');
    await running.request('session/list', {}); // by the time of the answer it has been seen
  };
  const SAID = 'debug: SIGUSR2: debug logging is on until the next SIGUSR2';
  const first = heard(running, SAID);
  await toggle();
  await first;
  await toggle();
  const third = heard(running, SAID);
  await toggle();
  await third;
  running.child.stdin.end();
  const { code, stderr } = await running.ended;
  expect({ code, said: stderr.split(SAID).length - 1 }).toEqual({ code: 0, said: 2 });
});
