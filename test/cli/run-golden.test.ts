// The whole output of `switchboard run -o text` for a turn, compared with golden/. `-u` updates the files.
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';

const golden = (name: string) => path.join(import.meta.dirname, 'golden', `${name}.txt`);

test.each([
  { name: 'answer', words: ['How does one start?'] },
  { name: 'plan', words: ['/plan a shed'] },
  { name: 'edit', words: ['-a', 'builder', '--write', '--policy', 'standard', '/edit notes.txt'] },
  { name: 'refused', words: ['-a', 'builder', '--write', '--policy', 'standard', '/edit .env'], exit: 5 },
  { name: 'mode', words: ['--mode', 'code', 'Hello'] },
  { name: 'who', words: ['/whoami'] },
])('$name', async ({ name, words, exit = 0 }) => {
  const home = createHome();
  home.write('notes.txt', 'Garden shed\n');
  const { code, stdout } = await home.run(['run', ...words]);
  expect(code).toBe(exit);
  const normal = stdout
    .replaceAll(home.project, '<project>')
    .replaceAll(/\/\S+\/config\/policies/g, '<policies>')
    .replaceAll(/(sketcher|builder)-[0-9a-f-]{36}/g, '$1-<id>')
    .replaceAll(/"pid": \d+/g, '"pid": <pid>')
    .replaceAll(/\[usage\] \d+/g, '[usage] <used>');
  expect(normal).not.toMatch(/\/tmp|\/home|\/root|\d{4}-\d\d-\d\d/); // nothing that depends on the machine
  await expect(normal).toMatchFileSnapshot(golden(name));
});
