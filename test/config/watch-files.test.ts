// Watching configuration and policy files for changes.
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchFiles } from '../../src/config/watch-files.ts';

/** Real files. `changed` resolves to the names in the next call, or in one that came since the last was taken. */
async function watched(
  names: readonly string[],
  before: Readonly<Record<string, string>> = { 'policy.yaml': 'a' },
  link?: (root: string) => void,
) {
  const root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-watch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const at = (name: string) => path.join(root, name);
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  for (const [name, text] of Object.entries(before)) write(name, text);
  link?.(root);
  const calls: (readonly string[])[] = [];
  let wake = () => {};
  const watch = watchFiles(names.map(at), (changed) => {
    calls.push(changed.map((file) => path.relative(root, file)));
    wake();
  });
  onTestFinished(() => watch.close());
  await watch.ready;
  const changed = async () => {
    for (;;) {
      const next = calls.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { root, at, write, calls, changed, close: () => watch.close() };
}

test('a file written in place is reported', async () => {
  const { write, changed } = await watched(['policy.yaml']);
  write('policy.yaml', 'b');
  expect(await changed()).toEqual(['policy.yaml']);
  write('policy.yaml', 'c');
  expect(await changed()).toEqual(['policy.yaml']);
});

test('a large file of the user is reported like any other', async () => {
  const large = `# ${'x'.repeat(300 * 1024)}\n`;
  const { write, changed } = await watched(['policy.yaml'], { 'policy.yaml': large });
  write('policy.yaml', `${large}version: 1\n`);
  expect(await changed()).toEqual(['policy.yaml']);
});

test('a file replaced by a rename is reported each time', async () => {
  const { at, write, changed } = await watched(['policy.yaml']);
  for (const text of ['b', 'c', 'd']) {
    write('.policy.yaml.tmp', text);
    renameSync(at('.policy.yaml.tmp'), at('policy.yaml'));
    expect(await changed()).toEqual(['policy.yaml']);
  }
});

test('a file that is created, deleted and created again is reported each time', async () => {
  const { at, write, changed } = await watched(['policy.yaml'], {});
  write('policy.yaml', 'a');
  expect(await changed()).toEqual(['policy.yaml']);
  rmSync(at('policy.yaml'));
  expect(await changed()).toEqual(['policy.yaml']);
  write('policy.yaml', 'a');
  expect(await changed()).toEqual(['policy.yaml']);
});

test('a file whose directories are created later, or deleted and created again, is reported', async () => {
  const { at, write, changed } = await watched(['some/where/policy.yaml'], {});
  write('some/where/policy.yaml', 'a');
  expect(await changed()).toEqual(['some/where/policy.yaml']);
  rmSync(at('some'), { recursive: true });
  expect(await changed()).toEqual(['some/where/policy.yaml']);
  write('some/where/policy.yaml', 'b');
  expect(await changed()).toEqual(['some/where/policy.yaml']);
});

test('the target of a symlink is reported, even when it is deleted and created again', async () => {
  const { at, write, changed } = await watched(['config/policy.yaml'], { 'dotfiles/policy.yaml': 'a' }, (root) => {
    mkdirSync(path.join(root, 'config'));
    symlinkSync('../dotfiles/policy.yaml', path.join(root, 'config/policy.yaml'));
  });
  write('dotfiles/policy.yaml', 'b');
  expect(await changed()).toEqual(['config/policy.yaml']);
  rmSync(at('dotfiles/policy.yaml'));
  expect(await changed()).toEqual(['config/policy.yaml']);
  write('dotfiles/policy.yaml', 'c');
  expect(await changed()).toEqual(['config/policy.yaml']);
});

test('other files, and a file that is only touched, are not reported', async () => {
  const { at, write, calls, changed } = await watched(['policy.yaml', 'marker']);
  write('other.yaml', 'x');
  utimesSync(at('policy.yaml'), 1, 1);
  write('same.yaml', 'a');
  renameSync(at('same.yaml'), at('policy.yaml'));
  write('marker', 'the end');
  expect(await changed()).toEqual(['marker']);
  expect(calls).toEqual([]);
});

test('constant activity in the directory does not delay a report', async () => {
  const { at, write, changed } = await watched(['policy.yaml']);
  const noise = setInterval(() => appendFileSync(at('noise'), 'x'), 1);
  onTestFinished(() => clearInterval(noise));
  write('policy.yaml', 'b');
  expect(await changed()).toEqual(['policy.yaml']);
});

test('several writes are reported once the files are complete', async () => {
  const { at, write, changed } = await watched(['policy.yaml', 'second.yaml']);
  write('policy.yaml', '');
  appendFileSync(at('policy.yaml'), 'b');
  write('second.yaml', 'c');
  const reported = new Set<string>();
  while (reported.size < 2) for (const file of await changed()) reported.add(file);
  expect([...reported].sort()).toEqual(['policy.yaml', 'second.yaml']);
});

test('nothing is reported after close', async () => {
  const first = await watched(['policy.yaml']);
  first.close();
  first.write('policy.yaml', 'b');
  const second = await watched(['policy.yaml'], {});
  second.write('policy.yaml', 'b');
  await second.changed();
  expect(first.calls).toEqual([]);
});
