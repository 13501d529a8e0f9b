// A profile as arguments of bubblewrap, as a seccomp filter, and as text for macOS.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bubblewrapArgs } from '../../src/sandbox/profile/bubblewrap.ts';
import type { Profile } from '../../src/sandbox/profile/profile.ts';
import { seatbeltProfile } from '../../src/sandbox/profile/seatbelt.ts';
import { seccompFilter } from '../../src/sandbox/profile/seccomp.ts';
import { remedy } from '../../src/sandbox/run/available.ts';

const PROFILE: Profile = {
  ...{
    level: 'workspace',
    network: 'open',
    hosts: { allow: [], ports: [] },
    roots: ['/p'],
    cwd: '/p',
    temporary: ['/tmp'],
    sockets: [],
    gaps: [],
  },
  places: [
    { kind: 'hide', path: '/home/u/.ssh', isDirectory: true, why: '' },
    { kind: 'write', path: '/p', isDirectory: true, why: '' },
    { kind: 'hide', path: '/p/.env', isDirectory: false, why: '' },
    { kind: 'pin', path: '/p/.git', isDirectory: true, why: '' },
    { kind: 'protect', path: '/p/.git/config', isDirectory: false, why: '' },
  ],
};
const PLAIN = { isRoot: false, seccomp: undefined, existing: () => false };
const argsOf = (change: Partial<Profile> = {}, input: Partial<typeof PLAIN> = {}) =>
  bubblewrapArgs({ ...PROFILE, ...change }, { ...PLAIN, ...input }).join(' ');

describe('bubblewrap', () => {
  test('capabilities are dropped, and the sandbox ends with switchboard', () => {
    expect(argsOf()).toMatch(/--unshare-user --unshare-pid .*--die-with-parent --cap-drop ALL/);
    expect(argsOf()).not.toMatch(/--new-session|--disable-userns/);
  });
  test('root becomes another user', () => {
    expect(argsOf({}, { isRoot: true })).toContain('--uid 1000 --gid 1000');
    expect(argsOf()).not.toContain('--uid');
  });
  test('mounts come outermost first, and hidden directories are sealed at the end', () => {
    expect(argsOf()).toContain(
      '--tmpfs /tmp --tmpfs /home/u/.ssh --bind /p /p --ro-bind /dev/null /p/.env --bind /p/.git /p/.git --ro-bind /p/.git/config /p/.git/config --remount-ro /home/u/.ssh --chdir /p',
    );
  });
  test('a network other than open is of its own', () => {
    expect(
      ['open', 'listed', 'none'].map((network) => argsOf({ network: network as Profile['network'] }).includes('--unshare-net')),
    ).toEqual([false, true, true]);
  });
  test('the directories above a place in the temporary directory are read-only', () => {
    const places = [{ kind: 'write', path: '/tmp/a/b/p', isDirectory: true, why: '' }] as const;
    expect(argsOf({ places })).toContain('--tmpfs /tmp --tmpfs /tmp/a --bind /tmp/a/b/p /tmp/a/b/p --remount-ro /tmp/a');
  });
});

/** Runs a filter, as the kernel does. */
function verdictOf(filter: Buffer, call: { number: number; architecture: number; argument?: number }): number {
  const data = new Map([
    [0, call.number],
    [4, call.architecture],
    [16, call.argument ?? 0],
  ]); // prettier-ignore
  let loaded = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no, value] = [
      filter.readUInt16LE(at * 8),
      filter.readUInt8(at * 8 + 2),
      filter.readUInt8(at * 8 + 3),
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.get(value) as number;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x45) at += (loaded & value) === 0 ? no : yes;
    else throw new Error(`unknown instruction ${code}`);
  }
}

describe('the seccomp filter', () => {
  const X64 = 0xc000003e;
  const [ALLOW, EACCES, ENOSYS, EPERM] = [0x7fff0000, 0x5000d, 0x50026, 0x50001];
  const filter = seccompFilter('x64', { allowsUnix: false }) as Buffer;
  test.each([
    ['a socket of the network', 41, 2, ALLOW],
    ['a socket of the network, version 6', 41, 10, ALLOW],
    ['a unix socket', 41, 1, EACCES],
    ['a socket to the host of a virtual machine', 41, 40, EACCES],
    ['a pair of sockets', 53, 1, ALLOW],
    ['io_uring, which makes sockets by itself', 425, 0, ENOSYS],
    ['a keyring', 250, 0, EPERM],
    ['a process', 56, 0x11, ALLOW],
    ['a process in a namespace of its own', 56, 0x10000011, ALLOW],
    ['a process with its own control groups', 56, 0x02000011, EPERM],
    ['a user namespace', 272, 0x10000000, ALLOW],
    ['a namespace of control groups', 272, 0x12000000, EPERM],
    ['clone3, whose flags cannot be seen', 435, 0, ENOSYS],
    ['reading', 0, 0, ALLOW],
    ['the same numbers in another interface', 0x40000029, 1, ENOSYS],
  ])('%s', (_, number, argument, expected) => {
    expect(verdictOf(filter, { number, architecture: X64, argument })).toBe(expected);
  });
  test('refuses programs for another architecture', () => {
    expect(verdictOf(filter, { number: 0, architecture: 0x40000003 })).toBe(ENOSYS);
  });
  test('allows unix sockets if one is listed', () => {
    expect(verdictOf(seccompFilter('x64', { allowsUnix: true }) as Buffer, { number: 41, architecture: X64, argument: 1 })).toBe(ALLOW);
  });
  test('has other numbers on arm64, and none on an unknown architecture', () => {
    expect(verdictOf(seccompFilter('arm64', { allowsUnix: false }) as Buffer, { number: 198, architecture: 0xc00000b7, argument: 1 })).toBe(
      EACCES,
    );
    expect(
      verdictOf(seccompFilter('arm64', { allowsUnix: false }) as Buffer, { number: 97, architecture: 0xc00000b7, argument: 0x02000000 }),
    ).toBe(EPERM);
    expect(seccompFilter('mips', { allowsUnix: false })).toBeUndefined();
  });
});

test('the profile for macOS denies writing, opens the project, and covers files in it', () => {
  const text = seatbeltProfile({ ...PROFILE, network: 'none', sockets: ['/s"x'] });
  const order = [
    '(deny file-write*)',
    '(deny file-read* file-write* (subpath "/home/u/.ssh"))',
    '(allow file-read* file-write* (subpath "/p"))',
    '(deny file-read* file-write* (literal "/p/.env"))',
    '(deny file-write-unlink (literal "/p/.git"))',
    '(deny file-write* (literal "/p/.git/config"))',
    '(deny network*)',
  ]; // prettier-ignore
  expect(order.map((line) => text.indexOf(line))).toEqual(order.map((line) => text.indexOf(line)).toSorted((a, b) => a - b));
  expect(order.filter((line) => !text.includes(line))).toEqual([]);
  expect(text).toContain('(path-literal "/s\\"x")');
});

test.each([
  ['setting up uid map: Permission denied', { 'kernel/apparmor_restrict_unprivileged_userns': '1' }, /AppArmor/],
  ['No permissions to create new namespace', { 'kernel/unprivileged_userns_clone': '0' }, /unprivileged_userns_clone=1/],
  ['Creating new namespace failed', { 'user/max_user_namespaces': '0' }, /max_user_namespaces/],
  ['Failed to make / slave: Permission denied', {}, /container/],
  ['something else', {}, /Run bwrap/],
])('%s has a next step', (reason, system, expected) => {
  expect(remedy(reason, (name) => (system as Record<string, string>)[name])).toMatch(expected);
});

test('the compiler is pure: it imports nothing that does anything', () => {
  const folder = path.resolve(import.meta.dirname, '../../src/sandbox/profile');
  const imported = readdirSync(folder).flatMap((file) =>
    [...readFileSync(path.join(folder, file), 'utf8').matchAll(/from '(node:[^']+|\.\.\/(?:run|network)[^']*)'/g)].map(([, name]) => name),
  );
  expect([...new Set(imported)]).toEqual(['node:path/posix']);
});
