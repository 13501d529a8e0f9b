// From policy, settings and catalogue to a profile, on a disk in memory.
import { describe, expect, test } from 'vitest';
import { loadPolicy } from '../../src/policy/format/load.ts';
import type { Policy, PolicyFile } from '../../src/policy/policy.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { type CompileInput, compile } from '../../src/sandbox/profile/compile.ts';
import type { Profile } from '../../src/sandbox/profile/profile.ts';
import { NO_SETTINGS } from '../../src/sandbox/settings.ts';
import { fakeDisk } from './fake-disk.ts';

const HOME = '/home/u';
const CONTAINMENT = { level: 'workspace', network: 'open', unavailable: 'fail', declined: undefined } as const;

function fileOf(text: string): PolicyFile {
  const { policy, problems } = loadPolicy('/policy.yaml', text);
  if (!policy) throw new Error(JSON.stringify(problems));
  return policy;
}
const policyOf = (text: string): Policy => combine([{ name: 'user', policy: fileOf(text) }]);

const INPUT: CompileInput = {
  ...{ agent: 'a', containment: CONTAINMENT, settings: NO_SETTINGS, policy: undefined, known: undefined, otherState: [] },
  ...{ roots: ['/p'], home: HOME, cwd: '/p', stateDir: '/state', ownFiles: [], ownSecrets: [], program: [] },
};
const DISK = { '/p/src/a.ts': '', '/home/u/': '', '/state/audit.jsonl': '' };

function profile(files: Record<string, string>, change: Partial<CompileInput> = {}): Profile {
  const made = compile({ ...INPUT, ...change }, fakeDisk({ ...DISK, ...files }));
  if ('problem' in made) throw new Error(`${made.problem} ${made.next}`);
  return made;
}
const placed = (made: Profile, kind: string) => made.places.filter((place) => place.kind === kind).map(({ path }) => path);

describe('without a policy', () => {
  test('the project is writable, and our state is hidden', () => {
    const made = profile({});
    expect(placed(made, 'write')).toEqual(['/p']);
    expect(placed(made, 'hide')).toEqual(['/state']);
  });
  test('of our state, an agent that is installed there sees the installed programs, and another agent nothing', () => {
    const files = { '/state/agents/store/abc/bin/agent': '', '/state/agents/installed/a.json': '' };
    const made = profile(files, { program: ['/state/agents/store/abc/bin/agent'] });
    expect(made.places.filter(({ path }) => path.startsWith('/state')).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'hide /state',
      'read /state/agents/store',
    ]);
    expect(placed(profile(files), 'read')).not.toContain('/state/agents/store');
  });
  test('credentials and secrets of the system are hidden', () => {
    const made = profile({ '/home/u/.ssh/id': '', '/home/u/.netrc': '', '/etc/shadow': '' });
    expect(placed(made, 'hide')).toEqual(['/etc/shadow', '/home/u/.netrc', '/home/u/.ssh', '/state']);
  });
  test('files with our own secrets are hidden, also inside the project', () => {
    expect(placed(profile({ '/p/bus.nk': '', '/etc/bus/key.pem': '' }, { ownSecrets: ['/p/bus.nk', '/etc/bus/key.pem'] }), 'hide')).toEqual(
      ['/etc/bus/key.pem', '/p/bus.nk', '/state'],
    );
  });
  test('files that make programs run something are read-only, and what is above them cannot be moved', () => {
    const made = profile({
      '/p/package.json': '',
      '/p/packages/a/package.json': '',
      '/p/.vscode/tasks.json': '',
      '/p/node_modules/x/package.json': '',
    });
    expect(placed(made, 'protect')).toEqual(['/p/.vscode', '/p/package.json', '/p/packages/a/package.json']);
    expect(placed(made, 'pin')).toEqual(['/p/packages', '/p/packages/a']);
  });
  test('of git’s directory only what makes git run something is read-only', () => {
    const git = { '/p/.git/config': '', '/p/.git/HEAD': '', '/p/.git/hooks/': '', '/p/.git/objects/': '', '/p/.git/refs/': '' };
    const made = profile({ ...git, '/p/sub/.git/config': '', '/p/.git/modules/m/config': '', '/p/.git/worktrees/w/gitdir': '' });
    expect(placed(made, 'protect')).toEqual([
      '/p/.git/config',
      '/p/.git/hooks',
      '/p/.git/modules/m/config',
      '/p/.git/worktrees/w/gitdir',
      '/p/sub/.git/config',
    ]);
    expect(placed(made, 'pin')).toContain('/p/.git');
    expect(made.gaps).toContain('/p/sub/.git/hooks does not exist, so it can be created');
  });
  test('the git directory of a linked worktree is writable, unless it does not name the worktree', () => {
    const repository = {
      '/r/.git/HEAD': '',
      '/r/.git/config': '',
      '/r/.git/objects/': '',
      '/r/.git/refs/': '',
      '/r/.git/worktrees/w/commondir': '../..',
    };
    const linked = { ...repository, '/p/.git': 'gitdir: /r/.git/worktrees/w\n', '/r/.git/worktrees/w/gitdir': '/p/.git\n' };
    expect(placed(profile(linked), 'write')).toEqual(['/p', '/r/.git']);
    expect(placed(profile(linked), 'protect')).toContain('/r/.git/config');
    expect(placed(profile({ ...linked, '/r/.git/worktrees/w/gitdir': '/other/.git\n' }), 'write')).toEqual(['/p']);
  });
});

describe('rules', () => {
  const POLICY = `version: 1
default: allow
deny:
  - { id: env, path: ["**/.env", "$home/.secret/**", "/etc/token"] }
  - { id: dist, action: [edit, delete, move], path: "$cwd/dist/**" }
  - { id: publish, action: execute, command: "npm publish ..." }
  - { id: other-agent, agent: b, path: "**/only-b" }
ask:
  - { id: lock, action: edit, path: "**/*.lock" }
  - { id: reads, action: read, path: "**/notes" }
`;
  const files = {
    '/p/.env': '',
    '/p/x/.env': '',
    '/p/dist/a': '',
    '/p/y.lock': '',
    '/p/only-b': '',
    '/p/notes': '',
    '/home/u/.secret/a': '',
    '/etc/token': '',
  };
  const made = profile(files, { policy: policyOf(POLICY) });
  test('a path that is denied to read is hidden, in the project and where a rule names it', () => {
    expect(placed(made, 'hide')).toEqual(['/etc/token', '/home/u/.secret', '/p/.env', '/p/x/.env', '/state']);
  });
  test('a path that is denied or asked to edit is read-only', () => {
    expect(placed(made, 'protect')).toEqual(['/p/dist', '/p/y.lock']);
  });
  test('rules that a sandbox cannot hold are listed', () => {
    expect(made.gaps).toEqual([
      'rule publish (/policy.yaml:6): a sandbox cannot tell commands apart',
      'rule reads (/policy.yaml:10): a sandbox cannot ask about reading',
    ]);
  });
  test('a closed policy opens only the directories that it allows to edit', () => {
    const closed = policyOf('version: 1\ndefault: deny\nallow:\n  - edit($cwd/src/**)\n  - read($cwd/**)\n');
    expect(placed(profile({}, { policy: closed }), 'write')).toEqual(['/p/src']);
    expect(placed(profile({}, { policy: policyOf('version: 1\ndefault: deny\n') }), 'write')).toEqual([]);
  });
  test('a closed bundle opens only what it and the other layers allow', () => {
    const under = (...texts: readonly [bundle: string, user: string]) => {
      const [bundle, user] = texts.map((text) => fileOf(`version: 1\n${text}`)) as [PolicyFile, PolicyFile];
      const policy = combine([
        { name: 'bundle', policy: bundle },
        { name: 'user', policy: user },
      ]);
      return profile({ '/data/a': '', '/p/src/a/x': '' }, { policy });
    };
    const closed = 'default: deny\nallow:\n  - edit($cwd/src/**)\n  - fetch(*.example.com)\n';
    expect(placed(under(closed, 'default: ask'), 'write')).toEqual(['/p/src']);
    expect(placed(under(closed, 'default: deny\nallow:\n  - edit($cwd/src/a/**)\n'), 'write')).toEqual(['/p/src/a']);
    expect(placed(under(closed, 'default: deny\nallow:\n  - edit($cwd/**)\n'), 'write')).toEqual(['/p/src']);
    expect(placed(under(closed, 'default: deny\nallow:\n  - edit($cwd/lib/**)\n'), 'write')).toEqual([]);
    expect(placed(under(closed, 'default: ask\nallow:\n  - edit(/data/**)\n'), 'write')).toEqual(['/p/src']);
    expect(under(closed, 'allow:\n  - fetch(api.example.com)\n  - fetch(evil.net)\n').hosts.allow).toEqual(['api.example.com']);
    expect(placed(under('allow:\n  - edit(/data/**)\n', 'default: ask'), 'write')).toEqual(['/p']);
  });
  test('an allowed directory outside the project is writable; a pattern is not', () => {
    const policy = policyOf('version: 1\ndefault: ask\nallow:\n  - edit(/data/**)\n  - edit(**/x/**)\n  - edit($home/**)\n');
    expect(placed(profile({ '/data/a': '', '/x/a': '' }, { policy }), 'write')).toEqual(['/data', '/p']);
  });
  test('hosts that rules allow are on the list', () => {
    const policy = policyOf('version: 1\ndefault: ask\nallow:\n  - fetch(*.example.com)\n');
    const settings = { ...NO_SETTINGS, hosts: ['API.test', 'localhost:11434'] };
    expect(profile({}, { policy, settings }).hosts).toEqual({ allow: ['api.test', '*.example.com'], ports: [11434] });
  });
});

describe('settings', () => {
  test('state of the agent is writable but for its own settings, and state of others is hidden', () => {
    const known = { state: ['~/.a/'], protect: ['~/.a/config.toml'], hosts: [] };
    const made = profile({ '/home/u/.a/config.toml': '', '/home/u/.b/x': '' }, { known, otherState: ['~/.a/', '~/.b/'] });
    expect(placed(made, 'write')).toContain('/home/u/.a');
    expect(placed(made, 'protect')).toEqual(['/home/u/.a/config.toml']);
    expect(placed(made, 'hide')).toContain('/home/u/.b');
    expect(placed(made, 'hide')).not.toContain('/home/u/.a');
  });
  test('write opens a file that is read-only otherwise, but not one that the policy denies', () => {
    const settings = { ...NO_SETTINGS, write: ['package.json', 'Makefile'] };
    const policy = policyOf('version: 1\ndefault: allow\ndeny:\n  - { id: m, action: edit, path: "**/Makefile" }\n');
    expect(placed(profile({ '/p/package.json': '', '/p/Makefile': '' }, { settings, policy }), 'protect')).toEqual(['/p/Makefile']);
  });
  test('hide and protect take paths in the project, in the home directory, and patterns', () => {
    const settings = { ...NO_SETTINGS, hide: ['secrets', '~/private'], protect: ['**/*.sql'] };
    const made = profile({ '/p/secrets/a': '', '/home/u/private/b': '', '/p/db/x.sql': '' }, { settings });
    expect(placed(made, 'hide')).toEqual(['/home/u/private', '/p/secrets', '/state']);
    expect(placed(made, 'protect')).toEqual(['/p/db/x.sql']);
  });
  test('a directory that does not exist is named', () => {
    expect(profile({}, { settings: { ...NO_SETTINGS, state: ['~/.unknown'] } }).gaps[0]).toMatch(/~\/.unknown does not exist/);
  });
});

test('a read-only agent writes nothing in the project', () => {
  const made = profile({ '/p/package.json': '', '/p/.env': '' }, { containment: { ...CONTAINMENT, level: 'read-only' } });
  expect(placed(made, 'write')).toEqual([]);
  expect(placed(made, 'protect')).toEqual([]);
});

test('a process without a session does not see the directory it starts in', () => {
  const made = profile({}, { roots: [] });
  expect(placed(made, 'write')).toEqual([]);
  expect(placed(made, 'hide')).toContain('/p');
  expect(made.cwd).toBe('/');
});

test('a link is covered at its target, and said', () => {
  const made = profile({ '/p/Makefile': '-> build/Makefile.real', '/p/build/Makefile.real': '' });
  expect(placed(made, 'protect')).toEqual(['/p/build/Makefile.real']);
  expect(made.gaps).toEqual(['/p/Makefile is a link: its target is read-only, but the link itself can be replaced']);
});

describe('links that an agent of an earlier session could have made', () => {
  const secrets = { '/home/u/.netrc': 'x', '/home/u/.bashrc': '', '/other/x': '', '/home/u/.mine/': '' };
  test.each([
    ['write', { write: ['dist'] }],
    ['write', { write: ['dist/x'] }],
    ['sockets', { sockets: ['dist'] }],
    ['state', { state: ['/p/dist'] }],
    ['state', { state: ['~/.mine', '~/.mine/link'] }],
  ])('%s does not follow them out of the project: %j', (_, settings) => {
    const files = { ...secrets, '/p/dist': '-> /other', '/home/u/.mine/link': '-> /other' };
    const made = profile(files, { settings: { ...NO_SETTINGS, ...settings } });
    expect(made.places.filter(({ kind, path }) => kind === 'write' && path.startsWith('/other'))).toEqual([]);
    expect(made.gaps.join()).toMatch(/behind a link that an agent could have made, so it stays closed; name \/other/);
  });
  test('a rule that allows edits does not either', () => {
    const policy = policyOf('version: 1\ndefault: ask\nallow:\n  - edit(/p/dist/**)\n  - edit(/data/**)\n');
    expect(placed(profile({ ...secrets, '/p/dist': '-> /other', '/data/a': '' }, { policy }), 'write')).toEqual(['/data', '/p']);
  });
  test('inside the project, and where the user alone makes links, they count', () => {
    const settings = { ...NO_SETTINGS, write: ['dist', '/mine/data'] };
    const made = profile({ ...secrets, '/p/dist': '-> build', '/p/build/x': '', '/mine/data': '-> /other' }, { settings });
    expect(placed(made, 'write')).toEqual(['/other', '/p']);
    expect(made.gaps).toEqual([]);
  });
  test.each(['package.json', 'sub/Makefile', '.vscode/x'])('a protected name does not uncover the hidden file it leads to: %s', (name) => {
    const made = profile({ ...secrets, [`/p/${name}`]: '-> /home/u/.netrc' });
    expect(placed(made, 'hide')).toContain('/home/u/.netrc');
    expect(placed(made, 'protect')).not.toContain('/home/u/.netrc');
  });
});

test.each([
  ['\thooksPath = tools/hooks\n', ['/p/.git/config', '/p/tools/hooks']],
  ['\tHooksPath = "tools/hooks" # ours\n', ['/p/.git/config', '/p/tools/hooks']],
  ['\thooksPath = ~/hooks\n', ['/p/.git/config']],
])('the hooks that git’s configuration names are read-only: %j', (line, expected) => {
  const made = profile({ '/p/.git/HEAD': '', '/p/.git/config': `[core]\n${line}`, '/p/tools/hooks/pre-commit': '' });
  expect(placed(made, 'protect')).toEqual(expected);
});

test('more covers than a start can afford are an error that names the pattern', () => {
  const many = Object.fromEntries(Array.from({ length: 301 }, (_, n) => [`/p/d${n}/.env`, '']));
  const policy = policyOf('version: 1\ndefault: allow\ndeny:\n  - { id: e, path: "**/.env" }\n');
  expect(() => profile(many, { policy })).toThrow(/more than 300 covered files; 301 of them match \*\*\/\.env/);
});

test('hidden files are not looked for in the directories that a cover already hides', () => {
  const policy = policyOf('version: 1\ndefault: allow\ndeny:\n  - { id: s, path: ["$cwd/s/**", "**/.env"] }\n');
  expect(placed(profile({ '/p/s/.env': '' }, { policy }), 'hide')).toEqual(['/p/s', '/state']);
});

test('a program in the temporary directory is visible, and does not close a directory that is open for writing', () => {
  const settings = { ...NO_SETTINGS, state: ['/tmp/x/state'] };
  const made = profile({ '/tmp/x/state/': '', '/tmp/x/agent.js': '' }, { settings, program: ['/tmp/x/agent.js', '/tmp/x/state'] });
  expect(placed(made, 'read')).toContain('/tmp/x/agent.js');
  expect(placed(made, 'write')).toContain('/tmp/x/state');
});
