// Adding a rule to a policy's text, and the rule proposed for an action.
import { describe, expect, test } from 'vitest';
import { commandAction, hostAction, mcpAction, pathAction, toolAction } from '../../../src/policy/actions/surfaces.ts';
import { decide } from '../../../src/policy/decide.ts';
import { loadPolicy } from '../../../src/policy/format/load.ts';
import { addRule, ruleText } from '../../../src/policy/rules/add-rule.ts';
import { combine } from '../../../src/policy/rules/layers.ts';
import { type ProposedRule, proposeRule } from '../../../src/policy/rules/propose-rule.ts';

const PLACE = { agent: 'claude', cwd: '/project', home: '/home/user' };
const TEXT = `# ours
version: 1   # the first
default: ask

deny:
  - { id: secrets, path: "**/.env" }   # never

allow:
    - read($cwd/**)
    # tests
    - id: tests
      action: execute
      command: ["npm test ..."]   # all of them

# and so on
agents:
  "*": { on_violation: notify }
`;

function added(text: string, verdict: 'allow' | 'deny' | 'ask', rule: string) {
  const done = addRule('p.yaml', text, verdict, rule);
  if ('problems' in done) throw new Error(done.problems.map(({ message }) => message).join('; '));
  return done;
}

describe('a rule is added', () => {
  test('after the last rule of its verdict, and every other character stays', () => {
    const { text, line } = added(TEXT, 'allow', 'action: execute\ncommand: make\n');
    expect(text.split('\n').slice(line - 1, line + 1)).toEqual(['    - action: execute', '      command: make']);
    expect(
      text
        .split('\n')
        .toSpliced(line - 1, 2)
        .join('\n'),
    ).toBe(TEXT);
    expect(added(text, 'deny', 'execute(sudo ...)').text).toContain('# never\n  - execute(sudo ...)\n\nallow:');
  });

  test('at the end if its verdict has no rules yet, even after an unterminated last line', () => {
    expect(added('version: 1', 'ask', 'fetch').text).toBe('version: 1\nask:\n  - fetch\n');
    expect(added(`${TEXT.trimEnd()}`, 'ask', 'fetch').text).toBe(`${TEXT}ask:\n  - fetch\n`);
  });

  test.each([
    ['nothing at all', '  \n', /empty/],
    ['a key that is none', 'action: execute\ncomand: make', /unknown key/],
    ['an action that is none', 'action: run', /action/],
    ['two rules', 'fetch\n- think', /./],
    ['the beginning of something else', 'action: fetch\nallow: [think]', /unknown key/],
    ['a quote that is not closed', 'action: "fetch', /./],
    ['a document of its own', 'fetch\n---\nversion: 1', /./],
  ])('not if it is %s', (_, rule, message) => {
    const done = addRule('p.yaml', TEXT, 'allow', rule);
    expect('problems' in done && done.problems[0]?.message).toMatch(message);
  });

  test('problems of the rule give its own lines, problems of the policy those of the policy', () => {
    expect(addRule('p.yaml', TEXT, 'allow', 'action: execute\ncomand: make')).toMatchObject({ problems: [{ line: 2 }] });
    expect(addRule('p.yaml', 'version: 1\ndefalt: ask\n', 'allow', 'fetch')).toMatchObject({ problems: [{ line: 2 }] });
  });

  test('not into a list in brackets', () => {
    const done = addRule('p.yaml', 'version: 1\nallow: [fetch]\n', 'allow', 'think');
    expect('problems' in done && done.problems[0]?.message).toContain('not written one below the other');
  });
});

describe('the rule proposed for an action', () => {
  const requests = {
    'npm test': commandAction(PLACE, 'npm test'),
    'git commit -m "a b" && git push': commandAction(PLACE, 'git commit -m "a b" && git push'),
    'a file': pathAction(PLACE, 'edit', 'src/a b.ts'),
    'a file elsewhere': pathAction(PLACE, 'read', '/etc/hosts'),
    'a tool': mcpAction(PLACE, { server: 'github', tool: 'get_issue', args: {} }),
    'an address': hostAction(PLACE, 'fetch', 'https://example.com/x'),
    'a mode': toolAction(PLACE, 'mode', 'plan'),
  };

  test.each(Object.entries(requests))('covers it and nothing that differs: %s', (_, action) => {
    const rule = proposeRule(action) as ProposedRule;
    const { text } = added('version: 1\ndefault: ask\n', 'allow', ruleText({ ...rule, reason: 'your answer' }));
    const { policy: file } = loadPolicy('p.yaml', text);
    const policy = combine([{ name: 'user', policy: file as NonNullable<typeof file> }]);
    const verdictOf = (what: typeof action) => decide(policy, what).verdict;
    expect(verdictOf(action)).toBe('allow');
    expect(verdictOf({ ...action, agent: 'codex' })).toBe('ask');
    for (const other of Object.values(requests)) if (other !== action) expect(verdictOf(other)).toBe('ask');
  });

  test('covers only the session’s directory', () => {
    expect(proposeRule(requests['npm test'])).toEqual({ action: 'execute', agent: 'claude', command: 'npm test', cwd: '/project' });
    expect(proposeRule(requests['a file'])).toMatchObject({ path: '$cwd/src/a b.ts', cwd: '/project' });
  });

  test.each([
    ['something is left to the shell', commandAction(PLACE, 'rm $X'), 'it contains'],
    ['a word would be a pattern', commandAction(PLACE, "rg 'a|b' src"), 'a rule reads as a pattern'],
    ['a name would be a pattern', pathAction(PLACE, 'edit', 'src/[id].ts'), 'a rule reads as a pattern'],
    ['a host would be every host', hostAction(PLACE, 'fetch', 'https://*/x'), 'a rule reads as a pattern'],
    ['a host would be many', hostAction(PLACE, 'fetch', 'https://*.com/'), 'a rule reads as a pattern'],
    ['nothing is known of it', { ...toolAction(PLACE, 'execute'), evidence: 'none' as const }, 'does not describe it'],
  ])('does not exist if %s', (_, action, why) => {
    expect((proposeRule(action) as { cannot: string }).cannot).toContain(why);
  });
});
