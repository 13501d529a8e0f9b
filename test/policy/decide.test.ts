// The verdict of a policy for every kind of action.
import { describe, expect, test } from 'vitest';
import type { Action, Place } from '../../src/policy/actions/action.ts';
import { permissionAction, toolCallAction } from '../../src/policy/actions/permission.ts';
import {
  commandAction,
  hostAction,
  mcpAction,
  pathAction,
  startAction,
  terminalAction,
  toolAction,
} from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { PLACE, policyOf } from './support.ts';

const verdict = (policy: Policy, action: Action) => decide(policy, action).verdict;

describe('the strictest rule wins', () => {
  const policy = policyOf('allow: [ edit($cwd/**), "execute(git ...)" ]\nask: [ edit($cwd/infra/**) ]\ndeny: [ "edit(**/.env)" ]');
  test.each([
    ['allow', 'src/a.ts'],
    ['ask', 'infra/a.tf'],
    ['deny', 'infra/.env'],
    ['ask', '../elsewhere.ts'],
    ['ask', '/work/project-evil/a.ts'],
  ])('%s: edit %s', (expected, path) => {
    expect(verdict(policy, pathAction(PLACE, 'edit', path))).toBe(expected);
  });

  test('and the decision names rule, file, line and layer, and every other match', () => {
    const decision = decide(policy, pathAction(PLACE, 'edit', 'infra/.env'));
    expect(decision).toMatchObject({ verdict: 'deny', rule: { id: 'deny[0]', file: '/etc/policy.yaml', line: 4 }, layer: 'user' });
    expect(decision.matches.map(({ id }) => id)).toEqual(['deny[0]', 'ask[0]', 'allow[0]']);
  });

  test('several files are allowed only if each of them is', () => {
    const request = (paths: string[]) => ({
      toolCall: { toolCallId: 't', kind: 'edit', content: paths.map((path) => ({ type: 'diff', path, newText: '' })) },
    });
    expect(verdict(policy, permissionAction(PLACE, request(['a.ts', 'b.ts'])))).toBe('allow');
    expect(verdict(policy, permissionAction(PLACE, request(['a.ts', '/etc/hosts'])))).toBe('ask');
    expect(verdict(policy, permissionAction(PLACE, request(['a.ts', '.env'])))).toBe('deny');
  });
});

describe('the description of an agent allows only what it proves', () => {
  const policy = policyOf('default: allow\nallow: [ read, edit, execute, think, fetch, other, mcp ]\ndeny: [ "execute(sudo ...)" ]');
  const actionOf = (toolCall: object, agent = 'inhouse') =>
    permissionAction({ ...PLACE, agent }, { toolCall: { toolCallId: 't', ...toolCall } });
  test.each([
    ['a kind alone', { kind: 'read' }],
    ['a kind alone, even a harmless one', { kind: 'think' }],
    ['a title', { title: 'ls', kind: 'execute' }],
    ['nothing', {}],
    ['a kind that is none', { kind: 'frobnicate', title: 'x' }],
    ['an input without a fact', { kind: 'read', rawInput: { n: 1 } }],
  ])('%s allows nothing', (_, toolCall) => {
    expect(verdict(policy, actionOf(toolCall))).toBe('ask');
  });

  test('locations are enough for a path', () => {
    expect(actionOf({ kind: 'read', locations: [{ path: 'a.ts' }] })).toMatchObject({ evidence: 'locations', kind: 'read' });
    expect(verdict(policy, actionOf({ kind: 'read', locations: [{ path: 'a.ts' }] }))).toBe('allow');
  });

  test.each([
    ['read', { kind: 'read', rawInput: { path: 'a', command: 'sudo ls' } }],
    ['think', { kind: 'think', rawInput: { command: 'sudo ls' } }],
    ['argv', { kind: 'other', rawInput: { command: ['sudo', 'ls'] } }],
    ['argv of a shell', { kind: 'other', rawInput: { command: ['bash', '-lc', 'sudo ls'] } }],
    ['command and args', { rawInput: { command: 'sudo', args: ['ls'] } }],
    ['several lines', { rawInput: { commands: ['ls', 'sudo ls'] } }],
    ['title next to a harmless command', { kind: 'execute', title: 'sudo ls', rawInput: { command: 'ls' } }],
    ['nested', { rawInput: { command: { command: 'sudo ls' } } }],
  ])('a command in a request of kind %s is an execution', (_, toolCall) => {
    expect(actionOf(toolCall)).toMatchObject({ kind: 'execute' });
    expect(verdict(policy, actionOf(toolCall))).toBe('deny');
  });

  test('text to be written makes a read an edit', () => {
    expect(actionOf({ kind: 'read', rawInput: { path: 'a', content: 'x' } }).kind).toBe('edit');
    expect(actionOf({ kind: 'read', rawInput: { path: 'a' }, content: [{ type: 'diff', path: 'b', newText: '' }] })).toMatchObject({
      kind: 'edit',
      paths: [{ path: '/work/project/a' }, { path: '/work/project/b' }],
    });
  });

  test('every path anywhere in the input counts', () => {
    const strict = policyOf('allow: [ read($cwd/**) ]');
    expect(verdict(strict, actionOf({ kind: 'read', rawInput: { path: 'a' } }))).toBe('allow');
    expect(verdict(strict, actionOf({ kind: 'read', rawInput: { path: 'a', whatever: '/etc/passwd' } }))).toBe('ask');
    expect(verdict(strict, actionOf({ kind: 'read', rawInput: { path: 'a', more: [{ deep: '~/.netrc' }] } }))).toBe('ask');
    expect(verdict(strict, actionOf({ kind: 'read', rawInput: { path: 'a' }, locations: [{ path: '/etc/passwd' }] }))).toBe('ask');
  });

  test('a patch names its files', () => {
    const patch = '*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: /etc/b\n*** End Patch';
    expect(actionOf({ kind: 'other', rawInput: { input: patch } }, 'cline')).toMatchObject({
      kind: 'edit',
      paths: [{ path: '/work/project/src/a.ts' }, { path: '/etc/b' }],
    });
  });

  test("an agent's own tool names count more than the kind, except where the kind is worse", () => {
    expect(actionOf({ name: 'Read', kind: 'read', rawInput: { file_path: 'a' } }, 'claude').kind).toBe('read');
    expect(actionOf({ name: 'Write', kind: 'read', rawInput: { file_path: 'a' } }, 'claude').kind).toBe('edit');
    expect(actionOf({ name: 'Read', kind: 'delete', rawInput: { file_path: 'a' } }, 'claude').kind).toBe('delete');
    expect(actionOf({ name: 'TodoWrite', kind: 'think', rawInput: { todos: [] } }, 'claude')).toMatchObject({
      kind: 'think',
      evidence: 'raw',
    });
  });

  test('an MCP name that can be split in two ways is not split', () => {
    expect(actionOf({ name: 'mcp__a__b__c', rawInput: { x: 1 } }, 'claude').mcp).toBeUndefined();
    expect(actionOf({ name: 'mcp__a__b', rawInput: { x: 1 } }, 'claude').mcp).toMatchObject({ server: 'a', tool: 'b' });
  });

  test('variables set for a command make it opaque', () => {
    expect(verdict(policy, actionOf({ rawInput: { command: 'ls', env: { LD_PRELOAD: 'x' } } }))).toBe('ask');
  });

  test("a command's directory is where it says it runs", () => {
    const npm = policyOf('allow: [ "execute(npm test)" ]');
    expect(verdict(npm, actionOf({ rawInput: { command: 'npm test', cwd: '/work/project/sub' } }))).toBe('allow');
    expect(verdict(npm, actionOf({ rawInput: { command: 'npm test', workdir: '/tmp/evil' } }))).toBe('ask');
  });

  test('actions without a permission request are read the same way', () => {
    expect(toolCallAction(PLACE, { toolCallId: 't', kind: 'execute', rawInput: { command: 'ls' } })).toMatchObject({
      kind: 'execute',
      evidence: 'raw',
    });
  });
});

describe('paths', () => {
  test('symlinks are resolved by the caller: an allow looks at the end, a deny at both ends', () => {
    const place: Place = {
      ...PLACE,
      canonical: (path) => path.replace('/work/project/link', '/etc').replace('/work/project/alias', '/work/project/.env'),
    };
    const policy = policyOf('allow: [ read($cwd/**) ]\ndeny: [ "read(**/.env)", "read($cwd/link/**)" ]');
    expect(verdict(policy, pathAction(place, 'read', 'a'))).toBe('allow');
    expect(verdict(policy, pathAction(place, 'read', 'alias'))).toBe('deny');
    expect(verdict(policy, pathAction(place, 'read', 'link/x'))).toBe('deny');
    expect(verdict(policyOf('allow: [ read($cwd/**) ]'), pathAction(place, 'read', 'link/x'))).toBe('ask');
    expect(verdict(policyOf('allow: [ { command: "cat ...", path: "$cwd/**" } ]'), commandAction(place, 'cat link/x'))).toBe('ask');
  });

  test('case and normal form do not help past a deny', () => {
    const policy = policyOf('default: allow\ndeny: [ "read(**/.env)", "read(**/café.txt)" ]');
    expect(verdict(policy, pathAction(PLACE, 'read', '.ENV'))).toBe('deny');
    expect(verdict(policy, pathAction(PLACE, 'read', 'cafe\u0301.txt'))).toBe('deny');
  });

  test('a deny of reading or writing reaches the operands of commands', () => {
    const policy = policyOf('default: allow\ndeny: [ "read(**/.env)", "edit(**/locked.txt)" ]');
    expect(verdict(policy, commandAction(PLACE, 'cat .env'))).toBe('deny');
    expect(verdict(policy, commandAction(PLACE, 'cat locked.txt'))).toBe('allow');
    expect(verdict(policy, commandAction(PLACE, 'cp a locked.txt'))).toBe('deny');
    expect(verdict(policy, commandAction(PLACE, 'echo x > locked.txt'))).toBe('deny');
  });

  test.each([
    '.git/hooks/pre-commit',
    '.git/config',
    '.claude/settings.json',
    'sub/.codex/config.toml',
    '.vscode/settings.json',
    '/home/user/.bashrc',
    '/home/user/.config/fish/config.fish',
    '/home/user/.local/state/acp-switchboard/audit.jsonl',
    'switchboard.jsonc',
    '/etc/policy.yaml',
    '.husky/pre-push',
    '.GIT/HOOKS/pre-commit',
    'sub/../.git/hooks/x',
  ])('%s is never written without asking, whatever is allowed', (path) => {
    const policy = policyOf('default: allow\nallow: [ edit, delete, move, execute ]');
    for (const action of ['edit', 'delete', 'move'] as const) expect(verdict(policy, pathAction(PLACE, action, path))).toBe('ask');
    expect(verdict(policy, commandAction(PLACE, `cp x ${path}`))).toBe('ask');
    expect(verdict(policy, commandAction(PLACE, `sh -c 'cp x ${path}'`))).toBe('ask');
    expect(verdict(policy, pathAction(PLACE, 'read', path))).toBe('allow');
  });
});

describe('other surfaces', () => {
  test('MCP: server, tool and arguments', () => {
    const policy = policyOf(
      'allow: [ { mcp: "github:get_*", args: { "/owner": [us], "/title": { regex: "^fix" } } } ]\ndeny: [ "mcp(evil:*)", "execute(sudo ...)", { path: "**/.env" } ]',
    );
    const call = (server: string, tool: string, args: unknown) => verdict(policy, mcpAction(PLACE, { server, tool, args }));
    expect(call('github', 'get_x', { owner: 'us', title: 'fix: y' })).toBe('allow');
    expect(call('github', 'get_x', { owner: 'them', title: 'fix: y' })).toBe('ask');
    expect(call('github', 'get_x', { owner: 'us', title: 'no fix' })).toBe('ask');
    expect(call('github', 'set_x', { owner: 'us', title: 'fix' })).toBe('ask');
    expect(call('evil', 'x', {})).toBe('deny');
    expect(call('github', 'get_x', { owner: 'us', title: 'fix', command: 'sudo ls' })).toBe('deny');
    expect(call('github', 'get_x', { owner: 'us', title: 'fix', file: '.env' })).toBe('deny');
  });

  test('terminal/create: an argv, a line, variables, words a shell would read differently', () => {
    const policy = policyOf('allow: [ "execute(git status|log ...)" ]\ndeny: [ "execute(sudo ...)" ]');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['status'] }))).toBe('allow');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git status' }))).toBe('allow');
    expect(verdict(policy, terminalAction(PLACE, { command: 'bash', args: ['-c', 'git status'] }))).toBe('allow');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['status', ';', 'sudo', 'ls'] }))).toBe('deny');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['log', '$(id)'] }))).toBe('ask');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['status'], env: [{ name: 'GIT_PAGER' }] }))).toBe('ask');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['status'], env: [{ name: 'NO_COLOR' }] }))).toBe('allow');
    expect(verdict(policy, terminalAction(PLACE, { command: 'git', args: ['status'], cwd: '/tmp' }))).toBe('ask');
  });

  test('a server that a client wants started is a program like any other', () => {
    const policy = policyOf('allow: [ "execute!(docs-mcp ...)" ]\ndeny: [ { tool: "mcp-server:evil" } ]');
    expect(verdict(policy, startAction(PLACE, ['docs-mcp', '--stdio'], 'docs'))).toBe('allow');
    expect(verdict(policy, startAction(PLACE, ['node', 'server.js'], 'other'))).toBe('ask');
    expect(verdict(policy, startAction(PLACE, ['docs-mcp'], 'evil'))).toBe('deny');
  });

  test('hosts are compared whole', () => {
    const policy = policyOf('allow: [ "fetch(*.example.com)", "fetch(one.org)" ]\ndeny: [ "fetch(bad.example.com)" ]');
    const fetch = (url: string) => verdict(policy, hostAction(PLACE, 'fetch', url));
    expect(fetch('https://docs.example.com/x')).toBe('allow');
    expect(fetch('https://example.com')).toBe('ask');
    expect(fetch('https://evilexample.com')).toBe('ask');
    expect(fetch('https://one.org.evil.net')).toBe('ask');
    expect(fetch('https://one.org@evil.net/')).toBe('ask');
    expect(fetch('https://BAD.example.com./')).toBe('deny');
    expect(fetch('not a url')).toBe('ask');
  });

  test('modes and tools by name', () => {
    const policy = policyOf('allow: [ mode(plan) ]\ndeny: [ mode(yolo) ]');
    expect(verdict(policy, toolAction(PLACE, 'mode', 'plan'))).toBe('allow');
    expect(verdict(policy, toolAction(PLACE, 'mode', 'yolo'))).toBe('deny');
    expect(verdict(policy, toolAction(PLACE, 'mode', 'other'))).toBe('ask');
  });
});

describe('an error is never an allow', () => {
  const open = policyOf('default: allow\nallow: [ read, execute, mcp ]');
  const broken = () => {
    throw new Error('broken');
  };

  test.each([
    ['a canonical path that cannot be found', pathAction({ ...PLACE, canonical: broken }, 'read', 'a')],
    ['the same for a command', commandAction({ ...PLACE, canonical: broken }, 'cat a')],
    ['an input without end', permissionAction(PLACE, { toolCall: { rawInput: nested(10_000) } })],
    [
      'an input of many strings',
      permissionAction(PLACE, { toolCall: { kind: 'read', rawInput: { path: 'a', x: Array(15_000).fill('y') } } }),
    ],
    ['a request that is none', permissionAction(PLACE, undefined)],
    [
      'a request that throws',
      permissionAction(PLACE, {
        get toolCall() {
          return broken();
        },
      }),
    ],
    ['an unknown shell', commandAction({ ...PLACE, shell: 'unknown' }, 'ls')],
  ])('%s', (_, action) => {
    expect(verdict(open, action)).not.toBe('allow');
    expect(verdict(open, { ...action, interactive: false })).toBe('deny');
  });

  test('deny rules see a path that cannot be followed as written', () => {
    const strict = policyOf('default: allow\ndeny: [ { path: "**/.env" }, execute(sudo ...) ]');
    const place = { ...PLACE, canonical: broken };
    expect(verdict(strict, pathAction(place, 'read', 'circle/.env'))).toBe('deny');
    for (const line of ['sudo cat circle', 'cd circle && sudo ls', 'cat circle/.env', 'ls circle; echo $(sudo ls)'])
      expect(verdict(strict, commandAction(place, line)), line).toBe('deny');
    for (const line of ['cat circle', 'cd circle && ls']) expect(verdict(strict, commandAction(place, line)), line).toBe('ask');
    const actionOf = (rawInput: object) => permissionAction(place, { toolCall: { toolCallId: '1', rawInput } });
    expect(verdict(strict, actionOf({ command: 'sudo ls', cwd: 'circle' }))).toBe('deny');
    expect(verdict(strict, actionOf({ command: 'ls', cwd: 'circle' }))).toBe('ask');
    expect(verdict(strict, actionOf({ path: 'circle/.env' }))).toBe('deny');
    expect(verdict(strict, actionOf({ command: 'sudo ls', others: Array(15_000).fill('y') }))).toBe('deny');
  });

  test('a path with ".." must match in both readings', () => {
    const canonical = (path: string) =>
      path.includes('link/..') ? '/work/project/inside' : path === '/work/project/x' ? '/etc/passwd' : path;
    const allowing = policyOf('allow: [ read($cwd/**) ]');
    const action = permissionAction(
      { ...PLACE, canonical },
      { toolCall: { toolCallId: '1', kind: 'read', rawInput: { path: 'link/../x' } } },
    );
    expect(verdict(allowing, action)).toBe('ask');
  });

  test('too many files, or words in directories, are not looked up', () => {
    let looks = 0;
    const canonical = (path: string) => {
      looks++;
      return path;
    };
    const place = { ...PLACE, canonical };
    const files = Array.from({ length: 50_000 }, (_, n) => `f${n}`);
    expect(
      verdict(open, permissionAction(place, { toolCall: { toolCallId: '1', kind: 'read', locations: files.map((path) => ({ path })) } })),
    ).toBe('ask');
    expect(looks).toBeLessThan(2000);
    const moves = Array.from({ length: 15 }, (_, n) => `cd d${n}`).join('; ');
    looks = 0;
    expect(verdict(open, commandAction(place, `${moves}; ls ${files.slice(0, 5000).join(' ')}`))).toBe('deny');
    expect(looks).toBeLessThan(20_000);
  });

  test('not even an error of the engine', () => {
    const action = commandAction(PLACE, 'ls');
    for (const policy of [undefined, null, {}, { ...open, allow: undefined }, { ...open, strict: [{ rule: null }] }]) {
      expect(decide(policy as unknown as Policy, action).verdict).toBe('ask');
      expect(decide(policy as unknown as Policy, { ...action, interactive: false }).verdict).toBe('deny');
    }
    expect(decide(open, undefined as unknown as Action).verdict).toBe('deny');
  });

  test.each([
    ['too long', `echo ${'x'.repeat(1_100_000)}; sudo ls`],
    ['too deep', `${'eval '.repeat(2000)}sudo ls`],
    ['too deep in brackets', `${'$('.repeat(300)}sudo ls${')'.repeat(300)}`],
    ['too slow', `${'$['.repeat(200_000)}sudo ls`],
    ['too slow by its here-documents', `cat ${'<<a '.repeat(200_000)}; sudo ls`],
    ['too deep in wrappers', `${'nice '.repeat(2000)}sudo ls`],
  ])('a line that is %s to be read is denied, because a deny rule could match the rest', (_, line) => {
    expect(verdict(open, commandAction(PLACE, line))).toBe('deny');
  });
});

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}
