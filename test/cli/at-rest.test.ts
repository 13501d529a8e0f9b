// An idle proxy must stay small. Each Node module that it loads without need costs up to a megabyte.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, fixture, hello, SWITCHBOARD, test } from '../e2e/harness.ts';
import { noticed } from '../faults/setup.ts';

/** Reports when the configuration watch starts, which is the last step of start-up, and which modules were loaded by the end. */
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

test('an idle proxy has not loaded crypto, the ES module loader or fs/promises', async ({ stage }) => {
  const file = stage.writeConfig({ one: fixture('well-behaved', 'one') });
  const preload = path.join(stage.dir, 'tell-loaded.cjs');
  writeFileSync(preload, TELL_LOADED);
  const run = (...words: string[]) => stage.run(process.execPath, ['--require', preload, ...words]);
  const start = async () => {
    const editor = run(SWITCHBOARD, 'acp', '--config', file);
    await hello(editor);
    return editor;
  };
  // The first start validates the file and asks the agent for its capabilities.
  await (await start()).close();
  const editor = await start();
  await noticed(editor, 'files are watched');
  expect(await editor.close()).toBe(0);

  // Other versions of Node load some of these themselves.
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
