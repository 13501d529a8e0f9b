// Loading a policy from text: what is accepted, and how each problem is reported.
import { describe, expect, test } from 'vitest';
import { loadPolicy } from '../../../src/policy/format/load.ts';
import { renderProblem } from '../../../src/policy/format/problem.ts';

const problems = (text: string): string[] => loadPolicy('p.yaml', text).problems.map(renderProblem);

describe('a policy that is read', () => {
  test('may be YAML or JSON, with rules in the short and the long form', () => {
    const yaml = `
version: 1
default: ask
layer: project
deny: [ { path: ["**/.env"], reason: secrets } ]
ask: [ "execute(docker ...)", fetch ]
allow:
  - edit($cwd/src/**)
  - mcp(github:get_*)
  - { mcp: "github:get_*", args: { "/owner": ["our-org"], "/title": { regex: "^fix" } } }
  - { id: tests, action: execute, command: "npm test ...", interactive: false, evidence: raw, cwd: "$cwd/**", agent: [claude, "co*"] }
agents:
  reviewer: { mode: { pin: [plan, read-only], refuse: [yolo] }, on_violation: cancel }
mcp: { expose: ["host:open_file", "github:get_*"], pin: true }
remember: { allow_always: session, ttl: 8h, max_scope: exact }
limits: { permission_timeout: 30s, max_pending_permissions: 32 }
`;
    const { policy, problems: found } = loadPolicy('p.yaml', yaml);
    expect(found).toEqual([]);
    expect(policy).toMatchObject({
      default: 'ask',
      layer: 'project',
      remember: { allowAlways: 'session', ttlMs: 28_800_000, maxScope: 'exact' },
      limits: { permissionTimeoutMs: 30_000, maxPendingPermissions: 32 },
      mcp: { pin: true },
    });
    expect(policy?.rules.map(({ verdict, id, line }) => [verdict, id, line])).toEqual([
      ['deny', 'deny[0]', 5],
      ['ask', 'ask[0]', 6],
      ['ask', 'ask[1]', 6],
      ['allow', 'allow[0]', 8],
      ['allow', 'allow[1]', 9],
      ['allow', 'allow[2]', 10],
      ['allow', 'tests', 11],
    ]);
    expect(loadPolicy('p.json', '{"version":1,"allow":["execute(ls)"]}').policy?.rules).toHaveLength(1);
  });
});

describe('a mistake is named with its place and a suggestion:', () => {
  test.each([
    ['a missing version', 'default: ask', 'p.yaml:1:1: missing key "version"; write "version: 1" at the top'],
    ['an unknown version', 'version: 2', 'p.yaml:1:10: version: expected 1'],
    ['an unknown key', 'version: 1\nalow: []', 'p.yaml:2:1: unknown key "alow"; did you mean "allow"?'],
    ['an unknown verdict', 'version: 1\ndefault: dney', 'p.yaml:2:10: default: expected deny or ask or allow; did you mean "deny"?'],
    [
      'an unknown key of a rule',
      'version: 1\nallow:\n  - { comand: ls }',
      'p.yaml:3:7: allow[0]: unknown key "comand"; did you mean "command"?',
    ],
    ['an unknown action', 'version: 1\nallow: [ { action: raed } ]', 'p.yaml:2:20: allow[0].action: expected read or edit'],
    ['an empty rule', 'version: 1\nallow: [ {} ]', 'p.yaml:2:10: allow[0]: an empty rule would match everything'],
    [
      'a relative path',
      'version: 1\nallow: [ edit(src/**) ]',
      'p.yaml:2:10: allow[0]: a path starts with $cwd/, $home/, / or **/; for a path in the project',
    ],
    ['dots in a path', 'version: 1\nallow: [ edit($cwd/../x) ]', 'p.yaml:2:10: allow[0]: a path is compared in its canonical form'],
    [
      'dots in the middle of a command',
      'version: 1\nallow: [ "execute(git ... log)" ]',
      'p.yaml:2:10: allow[0]: "..." stands for any further words',
    ],
    ['a host with a scheme', 'version: 1\nallow: [ "fetch(https://x.y)" ]', 'p.yaml:2:10: allow[0]: expected a host such as example.com'],
    ['a tool without a server', 'version: 1\nallow: [ "mcp(get_x)" ]', 'p.yaml:2:10: allow[0]: expected server:tool'],
    ['args without mcp', 'version: 1\nallow: [ { command: ls, args: { "/x": 1 } } ]', 'allow[0].args: needs "mcp"'],
    ['a regex that is none', 'version: 1\nallow: [ { mcp: "a:b", args: { "/x": { regex: "(" } } } ]', 'not a valid regular expression'],
    ['a bare number for a time', 'version: 1\nlimits: { permission_timeout: 30 }', 'expected a number with its unit'],
    ['a duplicate key', 'version: 1\ndefault: ask\ndefault: deny', 'syntax error: duplicate key'],
    ['an alias', 'version: 1\nallow: &a [ ]\nask: *a', 'aliases are not allowed'],
    ['a tag', 'version: 1\ndefault: !secret x', 'tags are not allowed'],
    ['two documents', 'version: 1\n---\nversion: 1', 'the file contains several documents'],
    ['no content', '', 'p.yaml:1:1: expected a map'],
    ['two rules of one id', 'version: 1\nallow: [ { id: a, action: read }, { id: a, action: edit } ]', 'a: two rules have this id'],
    [
      'an example that fails',
      'version: 1\nallow:\n  - { command: "ls ...", match: ["ls; rm x"] }',
      'p.yaml:3:34: allow[0].match[0]: this example should match the rule, but does not',
    ],
    [
      'a counterexample that fails',
      'version: 1\ndeny:\n  - { command: "rm ...", not_match: ["x; rm y"] }',
      'deny[0].not_match[0]: this example should not match',
    ],
  ])('%s', (_, text, expected) => {
    expect(problems(text).join('\n')).toContain(expected);
  });

  test('all of them at once', () => {
    expect(problems('version: 3\nfoo: 1\ndefault: x\nallow: [ nope(x), { bar: 1 } ]')).toHaveLength(5);
  });

  test.each([
    ['brackets', '{"version":1,"allow":["x" "y"],"deny":[}', '1:27', '2 more errors'],
    ['an indentation', 'version: 1\n allow: [ read ]', '1:10', '1 more error'],
    ['a line of its own for a list', 'version: 1\nversion: 2\nallow: - x\n - y', '3:8', '2 more errors'],
  ])('of a text that lacks %s the first syntax error, and how many more there are', (_, text, place, more) => {
    expect(problems(text)).toEqual([
      expect.stringMatching(new RegExp(`^p.yaml:${place}: syntax error: .*; fix this first: ${more} after it may follow from it$`)),
    ]);
  });

  test('every duplicate key', () => {
    const duplicate = (line: number) => `p.yaml:${line}:1: syntax error: duplicate key`;
    expect(problems('version: 1\ndefault: ask\ndefault: deny\nask: []\nask: []')).toEqual([duplicate(3), duplicate(5)]);
  });

  test('without the value, which may be a secret', () => {
    const secret = 'sk-live-4242';
    const texts = [
      `version: ${secret}`,
      `version: 1\ndefault: ${secret}`,
      `version: 1\nallow: [ "${secret}" ]`,
      `version: 1\nallow: [ { path: "${secret}" } ]`,
      `version: 1\nx: *${secret}`,
      `version: 1\nallow: [ { action: ${secret} } ]`,
      `version: 1\nallow: "${secret}`,
      `version: 1\nlimits: { permission_timeout: ${secret} }`,
      `version: 1\ndefault: !${secret} x`,
    ];
    for (const text of texts) {
      expect(problems(text).length).toBeGreaterThan(0);
      expect(problems(text).join()).not.toContain(secret);
    }
  });
});

test('a policy with a problem is no policy at all, not half of one', () => {
  expect(loadPolicy('p.yaml', 'version: 1\ndeny: [ "execute(rm ...)" ]\nallow: [ oops(x) ]').policy).toBeUndefined();
});
