// Starting slowly is not failing: agents are asked once, and a package runner that still downloads is waited for.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { contentOf } from '../faults/setup.ts';
import { fixture, hello, open, prompt, type Stage, test } from './harness.ts';

/** A program called `npx` that downloads for `ms`, and starts this fixture from a folder of installed programs. */
function npx({ dir }: Stage, ms: number, agent: string) {
  const modules = path.join(dir, 'node_modules');
  mkdirSync(path.join(modules, '.bin'), { recursive: true });
  writeFileSync(path.join(modules, '.bin', 'agent'), `import(${JSON.stringify(fixture(agent).args[0])});\n`);
  const script = fixture('slow-npx').args[0];
  const command = path.join(dir, 'npx');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${script}" ${ms} "${modules}"\n`, { mode: 0o755 });
  return { command, args: ['-y', 'agent@1.0.0'] };
}

describe.runIf(process.platform === 'linux')('npx', () => {
  test('that downloads for longer than an agent may take to start is shown and waited for, not killed', async ({ stage }) => {
    const client = stage.proxy({ slow: { ...npx(stage, 4000, 'well-behaved'), timeouts: { initialize_ms: 1500 } } });
    await hello(client);
    const { id } = await open(client, stage.cwd);
    expect((await prompt(client, id, 'here')).result).toEqual({ stopReason: 'end_turn' });
    expect(client.stderr()).toContain(
      'agent "slow" has not started yet: npx is still downloading its package (npm http fetch GET 200 agent-1.0.0.tgz)',
    );
    expect(client.stderr()).not.toContain('killed half way');
  });

  test('that has started an agent which never answers is ended after the usual time', async ({ stage }) => {
    const client = stage.proxy({ slow: { ...npx(stage, 1, 'silent-initialize'), timeouts: { initialize_ms: 1500 } } });
    await hello(client);
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    expect(error.message).toContain('did not answer initialize within 1500 ms');
  });
});

test('an agent that takes longer than three seconds to answer is started once', async ({ stage }) => {
  const script = `setTimeout(() => import(${JSON.stringify(fixture('well-behaved').args[0])}), 4000);
require('node:fs').appendFileSync(${JSON.stringify(path.join(stage.dir, 'starts'))}, 'x');`;
  const file = path.join(stage.dir, 'slow.cjs');
  writeFileSync(file, script);
  const client = stage.proxy({ slow: { command: process.execPath, args: [file, 'slow'] } });
  await hello(client);
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'here')).result).toEqual({ stopReason: 'end_turn' });
  expect(contentOf(path.join(stage.dir, 'starts'))).toBe('x');
});
