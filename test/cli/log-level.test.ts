// The log level changes while sessions are open.
import { expect, test } from 'vitest';
import { createHome, INITIALIZE, type Running } from './command.ts';

/** Resolves when stderr contains the text once more. */
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

test.skipIf(process.platform === 'win32')('SIGUSR2 turns debug messages on, and the next SIGUSR2 turns them off', async () => {
  const home = createHome();
  const running = home.start(['acp', '--log-level', 'error']);
  await running.request('initialize', INITIALIZE);
  const toggle = async () => {
    running.child.kill('SIGUSR2');
    await running.request('session/list', {}); // debug messages precede the answer
  };
  const NOTICE = 'debug: SIGUSR2: debug logging is on until the next SIGUSR2';
  const first = heard(running, NOTICE);
  await toggle();
  await first;
  await toggle();
  const third = heard(running, NOTICE);
  await toggle();
  await third;
  running.child.stdin.end();
  const { code, stderr } = await running.ended;
  expect({ code, count: stderr.split(NOTICE).length - 1 }).toEqual({ code: 0, count: 2 });
});
