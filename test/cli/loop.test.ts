// Switchboard configured as its own agent: refused by name, and stopped if a wrapper hides it.
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, INITIALIZE } from './command.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');

test('an agent that is switchboard itself is named and not started', async () => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { me: { command: process.execPath, args: [BIN, 'acp'] } } });
  const { code, stdout } = await home.run(['agents', 'test', 'me']);
  expect(code).toBe(7);
  expect(stdout).toMatch(/it is switchboard itself .*Remove "me" from agent_servers/);
});

test('a loop through a wrapper ends', async () => {
  const home = createHome();
  const wrapper = home.write(
    'wrapper.mjs',
    `process.argv = [process.argv[0], ${JSON.stringify(BIN)}, 'acp'];\nawait import(${JSON.stringify(BIN)});\n`,
  );
  home.write(home.userFile, {
    agent_servers: { me: { command: process.execPath, args: [wrapper] } },
    timeouts: { initialize_wait_ms: 30_000 },
  });
  const { request, child, ended } = home.start(['acp']);
  await request('initialize', INITIALIZE);
  const { error } = await request('session/new', { cwd: home.project, mcpServers: [] });
  expect(JSON.stringify(error)).toContain('recursive configuration: switchboard would start itself');
  child.stdin.end();
  expect((await ended).code).toBe(0);
  await expect.poll(home.processesLeft).toEqual([]); // each process ends the next one, and the innermost ones exit by themselves
});

test('the innermost process of a loop says why it exits', async () => {
  const { code, stderr } = await createHome().run(['acp'], { SWITCHBOARD_DEPTH: '4' });
  expect(code).toBe(1);
  expect(stderr).toContain('recursive configuration');
});
