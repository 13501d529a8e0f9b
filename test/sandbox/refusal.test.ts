import { expect, test } from 'vitest';
import type { Profile } from '../../src/sandbox/profile/profile.ts';
import { refusalOf } from '../../src/sandbox/profile/refusal.ts';

const PROFILE: Profile = {
  ...{ level: 'workspace', network: 'open', hosts: { allow: [], ports: [] }, roots: ['/p'], cwd: '/p', sockets: [], gaps: [] },
  temporary: ['/tmp'],
  places: [
    { kind: 'write', path: '/p', isDirectory: true, why: '' },
    { kind: 'hide', path: '/p/.env', isDirectory: false, why: 'rule env' },
    { kind: 'pin', path: '/p/a', isDirectory: true, why: '' },
    { kind: 'protect', path: '/p/a/package.json', isDirectory: false, why: 'other programs run what this file contains' },
  ],
};

test.each([
  ['/p/src/x', true, undefined],
  ['/p/a/x', true, undefined],
  ['/tmp/x', true, undefined],
  ['/p/.env', false, 'hidden (rule env)'],
  ['/p/a/package.json', true, 'read-only (other programs run what this file contains)'],
  ['/p/a/package.json', false, undefined],
  ['/etc/x', true, 'outside the directories that the agent may write; to allow it, add it to sandbox.write'],
  ['/etc/x', false, undefined],
])('%s, written %s: %s', (path, isWrite, expected) => {
  expect(refusalOf(PROFILE, path, isWrite)).toBe(expected);
});
