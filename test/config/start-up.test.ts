// What start-up loads.
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createSandbox } from './sandbox.ts';

const seen = vi.hoisted(() => ({ zod: false }));
vi.mock('zod', async (original) => {
  seen.zod = true;
  return original();
});

test('zod is loaded only when there is a file to validate', async () => {
  const { project: cwd, home, stateDir, write, userFile } = createSandbox();
  const options = { env: {}, cwd, home, stateDir, platform: 'linux' } as const;
  await loadConfig(options);
  expect(seen.zod).toBe(false);
  write(userFile, { agent_servers: { x: { command: 'x' } } });
  await loadConfig(options);
  expect(seen.zod).toBe(true);
});
