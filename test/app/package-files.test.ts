import path from 'node:path';
import { expect, test } from 'vitest';
import { bridgeScript, demoScript, isSingleExecutable, ownCommand, packageFile, useEmbeddedFiles } from '../../src/app/package-files.ts';

test('the npm package starts scripts with Node, the single executable starts itself', () => {
  const script = packageFile('bin', 'switchboard.js');
  expect(ownCommand('acp')).toEqual({ command: process.execPath, args: [script, 'acp'] });
  expect([path.isAbsolute(script), isSingleExecutable()]).toEqual([true, false]);

  useEmbeddedFiles((...parts) => path.join('/unpacked', ...parts));
  expect(ownCommand('acp')).toEqual({ command: process.execPath, args: ['acp'] });
  expect(packageFile('config', 'agent-catalog.json')).toBe(path.join('/unpacked', 'config', 'agent-catalog.json'));
  expect([demoScript(), bridgeScript(), isSingleExecutable()]).toEqual(['demo-agent', process.execPath, true]);
});
