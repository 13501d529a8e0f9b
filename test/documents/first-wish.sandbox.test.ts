// The first policy of docs/policy.md holds for an agent that asks nobody.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from '../cli/command.ts';
import { root, snippetsOf } from './pages.ts';

test('read everything, edit only src and test, run tests, ask about the rest, and never touch secrets', async () => {
  const home = createHome();
  const [policy = ''] = snippetsOf('docs/policy.md').flatMap(({ language, code }) => (language === 'yaml' ? [code] : []));
  home.write(path.join(path.dirname(home.userFile), 'policy.yaml'), policy);
  const agent = { command: process.execPath, args: [path.join(root, 'test/fixtures/runs-scripts.mjs')] };
  home.write(home.userFile, { agent_servers: { agent }, policy: 'policy.yaml' });
  for (const folder of ['src', 'test']) mkdirSync(path.join(home.project, folder));
  home.write('.env', 'KEY=canary');
  home.write('README.md', 'read me');
  home.write('package.json', { scripts: { test: 'echo tests pass' } });

  const script = [
    'cat README.md; npm test --silent; echo a > src/a.ts; echo b > test/b.ts',
    'cat .env; cp .env src/copy; echo x > .env; mkdir -p sub; echo x > sub/.env; rm README.md; echo x > notes.md',
  ].join('\n');
  const { code, stdout, stderr } = await home.run(['run', '-o', 'simple', script]);

  expect(code).toBe(5);
  expect(stdout).toContain('read me');
  expect(stdout).toContain('tests pass');
  expect(stdout + stderr).not.toContain('canary');
  const text = (file: string) =>
    existsSync(path.join(home.project, file)) ? readFileSync(path.join(home.project, file), 'utf8') : undefined;
  expect(['src/a.ts', 'test/b.ts', '.env', 'README.md'].map(text)).toEqual(['a\n', 'b\n', 'KEY=canary', 'read me']);
  expect(['src/copy', 'sub/.env', 'notes.md'].map(text)).toEqual([undefined, undefined, undefined]);
  for (const refused of ['README.md', 'notes.md', 'sub/.env']) expect(stderr).toContain(path.join(home.project, refused));
});
