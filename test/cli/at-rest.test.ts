// A proxy that waits for its editor weighs what it has loaded. One module of Node's too many, for something that can be had without it, is a megabyte.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, fixture, hello, SWITCHBOARD, test } from '../e2e/harness.ts';
import { noticed } from '../faults/setup.ts';

/** Says when the configuration is watched, which is the last thing a start does, and what was loaded by the end. */
const TELL_LOADED = `
  const { writeSync } = require('node:fs');
  const isWatching = () => process.moduleLoadList.includes('NativeModule internal/fs/watchers');
  const looking = setInterval(() => {
    if (!isWatching()) return;
    clearInterval(looking);
    writeSync(2, 'files are watched\\n');
  }, 5).unref();
  process.on('exit', () => writeSync(2, 'loaded: ' + JSON.stringify(process.moduleLoadList) + '\\n'));
`;

test('a proxy at rest has loaded neither hashes nor what loads ES modules nor files by promises', async ({ stage }) => {
  const file = stage.writeConfig({ one: fixture('well-behaved', 'one') });
  const preload = path.join(stage.dir, 'tell-loaded.cjs');
  writeFileSync(preload, TELL_LOADED);
  const run = (...words: string[]) => stage.run(process.execPath, ['--require', preload, ...words]);
  const start = async () => {
    const editor = run(SWITCHBOARD, 'acp', '--config', file);
    await hello(editor);
    return editor;
  };
  // The first time, the file is checked and the agent asked what it can do.
  await (await start()).close();
  const editor = await start();
  await noticed(editor, 'files are watched');
  expect(await editor.close()).toBe(0);

  // Other versions of Node may have some of them at once.
  const nothing = run(preload);
  await nothing.ended;
  const ours = loadedBy(editor).filter((name) => !loadedBy(nothing).includes(name));
  expect(ours).toContain('child_process');
  for (const needless of ['crypto', 'internal/modules/esm/translators', 'internal/fs/promises']) expect(ours).not.toContain(needless);
});

function loadedBy(program: Client): string[] {
  const [, names = '[]'] = /^loaded: (.+)$/m.exec(program.stderr()) ?? [];
  return JSON.parse(names).map((name: string) => name.replace('NativeModule ', ''));
}
