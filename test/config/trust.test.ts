// Trust in project files, recorded by content hash.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isTrusted, trust } from '../../src/config/trust.ts';
import { configError, createSandbox } from './sandbox.ts';

test('content is trusted by its hash, in any file', async () => {
  const { stateDir, write } = createSandbox();
  expect(await isTrusted(stateDir, '{}')).toBe(false);
  const { hash } = await trust(stateDir, write('project/switchboard.jsonc', '{}'));
  expect(hash).toBe(createHash('sha256').update('{}').digest('hex'));
  expect(await isTrusted(stateDir, '{}')).toBe(true);
  expect(await isTrusted(stateDir, '{ }')).toBe(false);
});

test('trusting a second file keeps the first', async () => {
  const { stateDir, write } = createSandbox();
  await trust(stateDir, write('one', '1'));
  await trust(stateDir, write('two', '2'));
  expect([await isTrusted(stateDir, '1'), await isTrusted(stateDir, '2')]).toEqual([true, true]);
});

test('the list is private and complete, and no temporary file is left', async () => {
  const { stateDir, write } = createSandbox();
  const file = write('one', '1');
  const { hash } = await trust(stateDir, file);
  expect(readdirSync(stateDir)).toEqual(['trusted.json']);
  const list = path.join(stateDir, 'trusted.json');
  expect(JSON.parse(readFileSync(list, 'utf8'))).toEqual({ [hash]: { file, at: expect.any(String) } });
  if (process.platform === 'win32') return;
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  expect(statSync(list).mode & 0o777).toBe(0o600);
});

test.each(['', '[', 'null', '5', '"x"', '[]'])('a trust list that contains %j trusts nothing and can be replaced', async (content) => {
  const { stateDir, write } = createSandbox();
  const file = write('one', '1');
  await trust(stateDir, file);
  writeFileSync(path.join(stateDir, 'trusted.json'), content);
  expect(await isTrusted(stateDir, '1')).toBe(false);
  await trust(stateDir, file);
  expect(await isTrusted(stateDir, '1')).toBe(true);
});

test('trusting a missing file is an error that names it', async () => {
  const { stateDir, root } = createSandbox();
  const file = path.join(root, 'gone');
  expect((await configError(trust(stateDir, file))).message).toBe(`${file}:1:1: cannot read the file (ENOENT)`);
});
