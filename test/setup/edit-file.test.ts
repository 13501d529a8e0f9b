// Saving an edited settings file.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileError, readToEdit, saveEdited } from '../../src/setup/edit-file.ts';

function folder(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-edit-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('the file keeps its mode, a backup with the same mode is kept, and nothing else is left', async () => {
  const dir = folder();
  const file = path.join(dir, 'settings.json');
  writeFileSync(file, 'old');
  chmodSync(file, 0o640);
  const backup = await saveEdited(await readToEdit(file), 'new');
  expect([readFileSync(file, 'utf8'), readFileSync(backup ?? '', 'utf8')]).toEqual(['new', 'old']);
  expect([file, backup ?? ''].map((one) => statSync(one).mode & 0o777)).toEqual([0o640, 0o640]);
  expect(readdirSync(dir)).toEqual(['settings.json', 'settings.json.bak']);
});

test('a change by another program in the meantime is not lost', async () => {
  const file = path.join(folder(), 'settings.json');
  writeFileSync(file, 'old');
  const edited = await readToEdit(file);
  writeFileSync(file, 'theirs');
  await expect(saveEdited(edited, 'ours')).rejects.toThrow(FileError);
  expect(readFileSync(file, 'utf8')).toBe('theirs');
});

test('a file that was created in the meantime is not overwritten', async () => {
  const file = path.join(folder(), 'settings.json');
  const edited = await readToEdit(file);
  writeFileSync(file, 'theirs');
  await expect(saveEdited(edited, 'ours')).rejects.toThrow(/cannot write .* \(EEXIST\)/);
  expect(readFileSync(file, 'utf8')).toBe('theirs');
});

test('a directory cannot be edited', async () => {
  await expect(readToEdit(folder())).rejects.toThrow(FileError);
});
