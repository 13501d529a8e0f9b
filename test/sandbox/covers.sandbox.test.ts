// Covered files that another program replaces, and commands that switchboard runs for a contained agent.
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSandboxSession, type SandboxSession, write } from './support.ts';

const POLICY = { version: 1, default: 'allow', deny: [{ id: 'env', path: '**/.env' }] };

/** As many editors save. */
function saveAtomically(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
const notices = (it: SandboxSession): string =>
  JSON.stringify(it.seen.filter(({ params }) => params?.update?.sessionUpdate === 'agent_thought_chunk'));

test('a covered file that is replaced between turns is covered again before the next turn, and that is said', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    policy: POLICY,
    prepare: ({ project }) => write(path.join(project, '.env'), 'canary'),
  });
  expect(await it.run('cat .env')).not.toContain('canary');
  saveAtomically(path.join(it.project, '.env'), 'canary two');
  expect(await it.run('cat .env')).not.toContain('canary');
  expect(notices(it)).toMatch(/did not cover all files.*\.env/);
});

test('a covered file that is replaced during a turn is reported at its end and covered again', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    policy: POLICY,
    prepare: ({ project }) => write(path.join(project, '.env'), 'canary'),
  });
  const turn = it.run('touch started; while [ ! -e go ]; do sleep 0.01; done');
  await expect.poll(() => it.seen.length + Number(exists(it, 'started'))).toBeGreaterThan(0);
  saveAtomically(path.join(it.project, '.env'), 'canary two');
  writeFileSync(path.join(it.project, 'go'), '');
  await turn;
  await expect.poll(() => notices(it)).toMatch(/did not cover all files.*\.env/);
  expect(await it.run('cat .env')).not.toContain('canary');
});

test('a protected file that did not exist is reported once it is created, and read-only from the next turn on', async () => {
  await using it = await openSandboxSession({ sandbox: 'workspace' });
  await it.run('mkdir .vscode && echo 1 > .vscode/tasks.json');
  await expect.poll(() => notices(it)).toMatch(/did not cover all files.*\.vscode/);
  expect(await it.run('echo 2 > .vscode/tasks.json')).toMatch(/Read-only/);
});

const exists = (it: SandboxSession, name: string): boolean => {
  try {
    renameSync(path.join(it.project, name), path.join(it.project, `${name}.seen`));
    return true;
  } catch {
    return false;
  }
};

test('a terminal that switchboard serves to a contained agent is contained, too', async () => {
  await using it = await openSandboxSession({
    sandbox: { level: 'workspace', hide: ['.env'] },
    config: { workspace: 'serve-missing' },
    agentArgs: ['--terminals'],
    prepare: ({ project }) => write(path.join(project, '.env'), 'canary'),
  });
  expect(await it.run(`cat .env; echo x > ${it.base}/outside; echo in > inside; id -u; exit 3`)).toMatch(
    /Permission denied[\s\S]*Read-only[\s\S]*exit 3$/,
  );
  expect(await it.run('cat .env inside')).toMatch(/^(?![\s\S]*canary)[\s\S]*in\n/);
});

test('a write that failed without a reason is explained in the session', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    prepare: ({ project }) => write(path.join(project, 'package.json'), '{}'),
  });
  await it.run(`fail ${it.project}/package.json`);
  expect(notices(it)).toMatch(/The sandbox refused this.*package\.json: read-only \(other programs run what this file contains\)/);
});
