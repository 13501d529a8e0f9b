// What differs between systems. Each can be asked on any of them.
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { platformOf } from '../../src/platform/platform.ts';
import { findProgram } from '../../src/setup/find-program.ts';
import { removeDirectory } from '../remove-directory.ts';

test.each([
  ['linux', { XDG_CONFIG_HOME: '/x' }, '/x', '/x'],
  ['linux', { XDG_CONFIG_HOME: 'x' }, '/home/u/.config', '/home/u/.config'],
  ['freebsd', {}, '/home/u/.config', '/home/u/.config'],
  ['darwin', { XDG_CONFIG_HOME: '/x' }, '/home/u/Library/Application Support', '/home/u/.config'],
  ['win32', { APPDATA: '/roaming' }, '/roaming', '/roaming'],
  ['win32', { APPDATA: '' }, '/home/u/AppData/Roaming', '/home/u/AppData/Roaming'],
] as const)('on %s with %j, configurations are in %s, those of Unix programs in %s', (name, env, own, unix) => {
  const platform = platformOf(name);
  expect([platform.configHome(env, '/home/u'), platform.unixConfigHome(env, '/home/u')]).toEqual([own, unix]);
});

test('the state of Windows does not roam', () => {
  expect(platformOf('win32').stateHome({ LOCALAPPDATA: '/local' }, '/home/u')).toBe('/local/acp-switchboard');
  expect(platformOf('win32').stateHome({}, '/home/u')).toBe('/home/u/AppData/Local/acp-switchboard');
});

test('another Unix has neither /proc nor bubblewrap', () => {
  expect(platformOf('freebsd')).toMatchObject({ processes: 'ps', sandbox: 'none', hasModes: true, hasProcessGroups: true });
});

describe('on Windows a program', () => {
  const folder = () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-programs-'));
    onTestFinished(() => removeDirectory(dir));
    for (const name of ['npx', 'npx.CMD', 'agent.exe', 'tool.sh']) writeFileSync(path.join(dir, name), '');
    return dir;
  };
  const find = (dir: string, command: string, more = {}) =>
    findProgram(path.join(dir, command), { env: { PATHEXT: '.EXE;.CMD', ...more }, platform: 'win32' });

  test('has an ending: a file without one is for another shell', () => {
    const dir = folder();
    expect(find(dir, 'npx')).toBe(path.join(dir, 'npx.CMD'));
    expect(find(dir, 'tool')).toBeUndefined();
  });

  test('can be named with its ending', () => {
    const dir = folder();
    expect(find(dir, 'agent.exe')).toBe(path.join(dir, 'agent.exe'));
    expect(find(dir, 'agent.exe', { PATHEXT: '' })).toBe(path.join(dir, 'agent.exe'));
  });
});
