// The index is not trusted: what it says is checked before it reaches a path, a command line, an environment or the network.
import { expect, test } from 'vitest';
import { describePlan, isOlder } from '../../src/registry/describe.ts';
import { planInstall, urlProblem, type Wishes } from '../../src/registry/plan.ts';
import { type RegistryAgent, readIndex } from '../../src/registry/schema.ts';

const SHA = 'ab'.repeat(32);
const LINUX: Wishes = { platform: 'linux', arch: 'x64' };
const entry = (distribution: unknown, more: object = {}) => ({
  id: 'one',
  name: 'One',
  version: '1.2.3',
  description: 'an agent',
  distribution,
  ...more,
});
const index = (...agents: unknown[]) => readIndex(JSON.stringify({ version: '1.0.0', agents, extensions: [] }));
const agentOf = (distribution: unknown, more: object = {}): RegistryAgent => {
  const { agents, skipped } = index(entry(distribution, more));
  expect(skipped).toEqual([]);
  return agents[0] as RegistryAgent;
};
const binary = (more: object = {}) => ({
  binary: { 'linux-x86_64': { archive: 'https://x.example/one.tar.gz', cmd: './bin/one', sha256: SHA, ...more } },
});

test('unknown fields are kept, at every level', () => {
  const given = entry({ npx: { package: 'one@1.2.3', later: 1 }, later: { a: [1] } }, { later: true, icon: 'x.svg' });
  expect(index(given).agents).toEqual([given]);
});

test('an entry that cannot be used is left out with its reason, and the others stay', () => {
  const good = entry({ npx: { package: 'one' } });
  const { agents, skipped } = index(
    good,
    { ...good, id: 'Two' },
    { ...good, id: 'three', version: 'latest' },
    { ...good, id: '../four' },
    null,
    { ...good, id: 'five', name: 5 },
    entry({ npx: { package: 'a' } }, { id: 'six' }),
    entry({ npx: { package: 'b' } }, { id: 'six' }),
  );
  expect(agents.map(({ id }) => id)).toEqual(['one']);
  expect(skipped.map(({ id }) => id)).toEqual(['Two', 'three', '../four', 'without an id', 'five', 'six', 'six']);
  expect(skipped.at(-1)?.why).toContain('several entries');
});

test.each(['', 'null', '[]', '{}', '{"agents":{}}', '{"agents":'])('%j is refused as an index', (text) => {
  expect(() => readIndex(text)).toThrow(expect.objectContaining({ code: 'REGISTRY_INVALID' }));
});

test('control characters and line breaks of names do not reach a terminal', () => {
  expect(agentOf({ npx: { package: 'one' } }, { name: 'One\u001b[2J\nTwo\u202e' }).name).toBe('One\ufffd[2J Two\ufffd');
});

test.each([
  [
    'npx',
    { npx: { package: '@x/one@1.2.3', args: ['--acp'], env: { ONE_MODE: 'acp' } } },
    { kind: 'npx', package: '@x/one', wanted: '1.2.3', program: undefined },
  ],
  ['npx without a version', { npx: { package: 'one' } }, { kind: 'npx', package: 'one', wanted: undefined, program: undefined }],
  [
    'npx with the latest version',
    { npx: { package: 'one@latest' } },
    { kind: 'npx', package: 'one', wanted: undefined, program: undefined },
  ],
  [
    'npx that names its program',
    { npx: { package: 'one@2', cmd: 'one-acp' } },
    { kind: 'npx', package: 'one', wanted: '2', program: 'one-acp' },
  ],
  ['uvx', { uvx: { package: 'one==1.2' } }, { kind: 'uvx', package: 'one', wanted: '1.2', program: undefined }],
  ['uvx with @', { uvx: { package: 'one[acp]@1.2' } }, { kind: 'uvx', package: 'one[acp]', wanted: '1.2', program: undefined }],
  [
    'a binary',
    binary(),
    { kind: 'binary', target: 'linux-x86_64', url: 'https://x.example/one.tar.gz', sha256: SHA, program: 'bin/one', format: 'tar.gz' },
  ],
  ['a binary with an upper-case checksum', binary({ sha256: SHA.toUpperCase() }), { sha256: SHA }],
  ['a raw program', binary({ archive: 'https://x.example/one-linux?sig=1' }), { format: 'raw' }],
  ['a zip', binary({ archive: 'https://x.example/one.ZIP' }), { format: 'zip' }],
  ['a tar.bz2', binary({ archive: 'https://x.example/one.tbz2' }), { format: 'tar.bz2' }],
  ['both: the verified binary first', { ...binary(), npx: { package: 'one' } }, { kind: 'binary' }],
  ['both: a binary without a checksum last', { ...binary({ sha256: undefined }), npx: { package: 'one' } }, { kind: 'npx' }],
  [
    'a binary for another machine only',
    { binary: { 'darwin-aarch64': { archive: 'https://x.example/a.zip', cmd: 'a' } }, npx: { package: 'one' } },
    { kind: 'npx' },
  ],
])('%s', (_, distribution, source) => {
  expect(planInstall(agentOf(distribution), LINUX).source).toMatchObject(source);
});

test('--from chooses the distribution, --preview the preview, and a version an old package', () => {
  const agent = agentOf(
    { ...binary(), npx: { package: 'one@1.2.3' } },
    { preview: { version: '2.0.0-beta.1', distribution: { npx: { package: 'one@2.0.0-beta.1' } } } },
  );
  expect(planInstall(agent, { ...LINUX, from: 'npx' }).source).toMatchObject({ kind: 'npx', wanted: '1.2.3' });
  expect(planInstall(agent, { ...LINUX, preview: true })).toMatchObject({ version: '2.0.0-beta.1', source: { wanted: '2.0.0-beta.1' } });
  expect(planInstall(agent, { ...LINUX, version: '2.0.0-beta.1' })).toMatchObject({ source: { wanted: '2.0.0-beta.1' } });
  expect(planInstall(agent, { ...LINUX, version: '1.0.0' })).toMatchObject({ version: '1.0.0', source: { kind: 'npx', wanted: '1.0.0' } });
  for (const wishes of [
    { from: 'uvx' as const },
    { version: 'latest' },
    { version: '1.0.0 --evil' },
    { platform: 'aix' as const, from: 'binary' as const },
    { preview: true, version: '1.0.0' },
  ])
    expect(() => planInstall(agent, { ...LINUX, ...wishes })).toThrow(expect.objectContaining({ code: 'NOT_INSTALLABLE' }));
  expect(() => planInstall(agentOf(binary()), { ...LINUX, version: '9' })).toThrow('no version 9');
  expect(() => planInstall(agentOf(binary()), { ...LINUX, preview: true })).toThrow('no preview');
});

test.each([
  ['an address as a package', { npx: { package: 'https://evil.example/x.tgz' } }],
  ['a git address', { npx: { package: 'git+ssh://git@evil.example/x' } }],
  ['a GitHub repository', { npx: { package: 'evil/x' } }],
  ['an alias', { npx: { package: 'x@npm:evil@1' } }],
  ['a path', { npx: { package: '../evil' } }],
  ['a file', { npx: { package: 'file:evil' } }],
  ['an option', { npx: { package: '--prefix=/' } }],
  ['two words', { npx: { package: 'one evil' } }],
  ['a version that is an address', { npx: { package: 'one@https://evil.example/x.tgz' } }],
  ['a Python address', { uvx: { package: 'one @ https://evil.example/x.whl' } }],
  ['a Python option', { uvx: { package: '--index-url=https://evil.example' } }],
  ['a program that is a path', { npx: { package: 'one', cmd: '../evil' } }],
  ['a command outside its folder', binary({ cmd: '../../bin/sh' })],
  ['an absolute command', binary({ cmd: '/bin/sh' })],
  ['a command on a drive', binary({ cmd: 'C:\\evil.exe' })],
  ['a command that is its folder', binary({ cmd: './' })],
  ['an http archive', binary({ archive: 'http://x.example/a.zip' })],
  ['an archive on this machine', binary({ archive: 'http://127.0.0.1/a.zip' })],
  ['a file as an archive', binary({ archive: 'file:///etc/passwd' })],
  ['a password', binary({ archive: 'https://me:secret@x.example/a.zip' })],
  ['no address', binary({ archive: 'a.zip' })],
  ['an installer', binary({ archive: 'https://x.example/a.dmg' })],
  ['another archive', binary({ archive: 'https://x.example/a.tar.xz' })],
  ['a loader of the system', binary({ env: { LD_PRELOAD: './evil.so' } })],
  ['a loader of macOS', binary({ env: { DYLD_INSERT_LIBRARIES: 'x' } })],
  ['a loader of Node', { npx: { package: 'one', env: { NODE_OPTIONS: '--require=./evil.js' } } }],
  ['a loader of Python', { uvx: { package: 'one', env: { PYTHONPATH: '/tmp' } } }],
  ['another PATH', { npx: { package: 'one', env: { PATH: '/tmp' } } }],
  ['a proxy', { npx: { package: 'one', env: { HTTPS_PROXY: 'http://evil.example' } } }],
  ['a variable of switchboard', { npx: { package: 'one', env: { SWITCHBOARD_HOME: '/tmp' } } }],
  ['a variable without a name', { npx: { package: 'one', env: { 'A=B': 'x' } } }],
  ['a reference to a variable of the user', { npx: { package: 'one', args: [`--report=\${env:AWS_SECRET_ACCESS_KEY}`] } }],
  ['a reference to a file of the user', { npx: { package: 'one', env: { A: `\${file:~/.ssh/id_rsa}` } } }],
  ['nothing at all', {}],
  ['a target of the prototype', { binary: { constructor: { archive: 'https://x.example/a.zip', cmd: 'a' } } }],
])('%s is refused', (_, distribution) => {
  expect(() => planInstall(agentOf(distribution), LINUX)).toThrow(
    expect.objectContaining({ code: 'NOT_INSTALLABLE', next: expect.any(String) }),
  );
});

test.each([
  ['https://x.example/a', false, undefined],
  ['http://127.0.0.1:1/a', true, undefined],
  ['http://[::1]:1/a', true, undefined],
  ['http://localhost/a', true, undefined],
  ['http://127.0.0.1.evil.example/a', true, 'https'],
  ['http://127.0.0.1:1/a', false, 'elsewhere'],
  ['https://127.0.0.1:1/a', false, 'elsewhere'],
  ['https://localhost/a', false, 'elsewhere'],
  ['https://localhost/a', true, undefined],
  ['ftp://127.0.0.1/a', true, 'https'],
])('%s, from a registry on this machine: %s', (url, isLocal, problem) => {
  if (problem === undefined) expect(urlProblem(url, isLocal)).toBeUndefined();
  else expect(urlProblem(url, isLocal)).toContain(problem);
});

test('a plan in words has a line for each fact that an update can change', () => {
  const plan = planInstall(agentOf({ npx: { package: '@x/one@1.2.3', args: ['--acp', 'a b'], env: { B: '2', A: '1' } } }), LINUX);
  expect(describePlan(plan)).toBe(
    'name: One\nversion: 1.2.3\nnpm package: @x/one, version 1.2.3\narguments: "--acp" "a b"\nvariable: A=1\nvariable: B=2',
  );
});

test.each([
  ['1.2.3', '1.2.4', true],
  ['1.10.0', '1.9.0', false],
  ['1.0', '1.0.0', false],
  ['2.0.0-beta', '2.0.0', true],
  ['2.0.0', '2.0.0-beta', false],
])('%s is older than %s: %s', (one, other, expected) => {
  expect(isOlder(one, other)).toBe(expected);
});
