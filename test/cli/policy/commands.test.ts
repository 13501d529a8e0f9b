// The commands of `switchboard policy`, run in this process.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { asCommandFailure, CommandFailure } from '../../../src/cli/failure.ts';
import { addPolicyCommands } from '../../../src/cli/policy/policy.ts';
import { fileText } from '../../policy/support.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'switchboard-policy-'));
  mkdirSync(path.join(folder, 'project'));
  writeFileSync(path.join(folder, 'outside.txt'), 'x');
  symlinkSync(path.join(folder, 'outside.txt'), path.join(folder, 'project', 'link.txt'));
  // No configuration, whatever the user of this machine has.
  vi.stubEnv('SWITCHBOARD_CONFIG', undefined);
  for (const name of ['HOME', 'XDG_CONFIG_HOME', 'APPDATA']) vi.stubEnv(name, path.join(folder, 'home'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.out += String(text);
    return true;
  });
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.err += String(text);
    return true;
  });
  let code = -1;
  const program = new Command('switchboard').exitOverride();
  addPolicyCommands(program, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(['node', 'switchboard', 'policy', ...argv]);
  } catch (thrown) {
    const error = asCommandFailure(thrown);
    if (!(error instanceof CommandFailure)) throw thrown;
    code = error.exitCode;
    written.err += error.message;
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
  return { code, ...written };
}

const file = (name: string, text: string): string => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};

describe('policy check', () => {
  test('counts the rules and examples of a valid file', async () => {
    const { code, out } = await run('check', file('good.yaml', 'version: 1\nallow:\n  - { command: "ls ...", match: ["ls -l"] }\n'));
    expect([code, out]).toEqual([0, expect.stringMatching(/^valid: .*good\.yaml \(1 rules, 1 examples\)\n$/)]);
  });

  test('names every problem with its location and exits with 6', async () => {
    const { code, err } = await run('check', file('bad.yaml', 'version: 1\ndefualt: ask\nallow: [ "exceute(ls)" ]\n'));
    expect(code).toBe(6);
    expect(err).toMatch(/bad\.yaml:2:1: unknown key "defualt"; did you mean "default"\?/);
    expect(err).toMatch(/bad\.yaml:3:10: allow\[0\]: expected an action .*did you mean "execute"\?/);
  });

  test('warns about rules that cover less than they seem to', async () => {
    const { code, err } = await run('check', file('warn.yaml', 'version: 1\nallow: [ "execute(env ...)", "execute(node ...)" ]\n'));
    expect(code).toBe(0);
    expect(err).toContain('env starts another command');
    expect(err).toContain('node runs code');
  });

  test('a missing file is exit code 6', async () => {
    expect(await run('check', path.join(folder, 'absent.yaml'))).toMatchObject({ code: 6, err: expect.stringContaining('ENOENT') });
  });
});

describe('policy explain', () => {
  const json = async (...argv: string[]) => {
    const { code, out } = await run('explain', '--json', ...argv);
    return { code, ...(JSON.parse(out) as { ok: boolean; data: { verdict: string; [key: string]: unknown }; warnings: string[] }) };
  };

  test('needs neither a configuration nor a known agent, and supports the JSON envelope', async () => {
    const answer = await json('--agent', 'nobody-knows', '--command', 'git status', '--cwd', folder);
    expect(answer).toMatchObject({
      ok: true,
      warnings: [],
      data: { verdict: 'allow', rule: { id: 'git-look', file: expect.stringMatching(/config.policies.standard\.yaml$/) } },
    });
  });

  test('without --policy, applies the policy and the sandbox of the configuration', async () => {
    file('mine.yaml', 'version: 1\ndeny: [ { id: mine, command: "git status" } ]\n');
    const agents = { agent_servers: { a: { command: 'a', sandbox: 'review' } } };
    const config = file('mine.json', JSON.stringify({ ...agents, policy: 'mine.yaml' }));
    const status = ['--agent', 'a', '--command', 'git status', '--cwd', folder];
    expect((await json('--config', config, ...status)).data).toMatchObject({ verdict: 'deny', rule: { id: 'mine' } });
    expect((await json('--config', config, '--policy', 'standard', ...status)).data.verdict).toBe('allow');
    const edit = ['explain', '--agent', 'a', '--path', 'b.txt', '--cwd', folder];
    const { out } = await run(...edit, '--config', config);
    expect(out).toMatch(/^contained +prevented, also if it does not ask: the change waits for your answer at the end of the turn$/m);
    const none = file('none.json', JSON.stringify(agents));
    expect((await run(...edit, '--config', none)).out).toMatch(/^policy +standard \(no policy is configured\)$/m);
  });

  test('lists the reasons against a command', async () => {
    const { out } = await run('explain', '--agent', 'x', '--command', 'git log > $OUT', '--cwd', folder);
    expect(out).toMatch(/^opaque +a variable$/m);
    expect(out).toMatch(/^verdict +ask$/m);
  });

  test('shows what a command does', async () => {
    const { out } = await run('explain', '--agent', 'x', '--command', 'rg -t sh KEY src | head -3 > out', '--cwd', folder);
    expect(out).toMatch(/^command +rg -t sh KEY src$/m);
    expect(out).toMatch(/^ +reads +every file below src \(hidden\)$/m);
    expect(out).toMatch(/^ +reads +any \.gitignore +\(unasked\)$/m);
    expect(out).toMatch(/^ +writes +.*out \(redirection\)$/m);
    expect(out).toMatch(/^verdict +allow$/m);
  });

  test('says what a program does unasked, and that it runs the project', async () => {
    const { out } = await run('explain', '--agent', 'x', '--command', 'npm test', '--cwd', folder);
    expect(out).toMatch(/^ +runs +the project's code: .*\(unasked\)$/m);
  });

  test('names the word that is not understood, and the table', async () => {
    const { out } = await run('explain', '--agent', 'x', '--command', 'git log --outpu=x', '--cwd', folder);
    expect(out).toMatch(/not understood: --outpu=x \(as an abbreviation it would be --output; table of git/);
    expect(out).toMatch(/^verdict +ask$/m);
  });

  test('says that a command is trusted', async () => {
    const policy = file('trust.yaml', 'version: 1\nallow: [ "execute!(frob ...)" ]\n');
    const { out } = await run('explain', '--policy', policy, '--agent', 'x', '--command', 'frob -x', '--cwd', folder);
    expect(out).toMatch(/^because +allow by rule .*which trusts it with any arguments$/m);
  });

  test('a link inside the project is evaluated by its target', async () => {
    const cwd = path.join(folder, 'project');
    expect((await json('--agent', 'x', '--path', 'link.txt', '--cwd', cwd)).data.verdict).toBe('ask');
    expect((await json('--agent', 'x', '--path', 'other.txt', '--cwd', cwd)).data.verdict).toBe('allow');
    expect((await json('--agent', 'x', '--command', 'cat link.txt', '--cwd', cwd)).data.verdict).toBe('ask');
  });

  test('a denial changes the exit code only on request', async () => {
    expect((await run('explain', '--agent', 'x', '--path', '.env', '--action', 'read')).code).toBe(0);
    expect((await run('explain', '--agent', 'x', '--path', '.env', '--action', 'read', '--exit-code')).code).toBe(5);
  });

  test('a tool is evaluated by its action too: which agent may be prompted', async () => {
    const policy = file('delegate.yaml', 'version: 1\ndeny: [ "delegate(gemini)" ]\nallow: [ { action: delegate, agent: claude } ]\n');
    const asks = async (agent: string, other: string) =>
      (await json('--policy', policy, '--agent', agent, '--tool', other, '--action', 'delegate')).data.verdict;
    expect(await asks('claude', 'codex')).toBe('allow');
    expect(await asks('claude', 'gemini')).toBe('deny');
    expect(await asks('codex', 'claude')).toBe('ask');
  });

  test('a recorded frame is read in the format of its agent', async () => {
    const recorded = (
      JSON.parse(fileText('test/policy/fixtures/permission-requests.json')) as { agent: string; before: unknown[]; request: unknown }[]
    ).find(({ agent, request }) => agent === 'codex' && JSON.stringify(request).includes('is_mcp_tool_approval'));
    const lines = [
      ...(recorded?.before ?? []).map((update) => ({ method: 'session/update', params: { update } })),
      { method: 'session/request_permission', params: recorded?.request },
    ];
    const frame = file('frame.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
    const { data } = await json('--agent', 'codex', '--frame', frame, '--cwd', folder);
    expect(data).toMatchObject({
      verdict: 'ask',
      tier: 'mediated',
      asked: { action: 'mcp', mcp: { server: 'probe', tool: 'host_echo' } },
    });
  });

  test('if nobody can be asked, ask becomes deny', async () => {
    expect((await json('--agent', 'x', '--command', 'npm publish', '--headless')).data).toMatchObject({ verdict: 'deny', wasAsk: true });
  });

  test('control characters in a command do not reach the terminal', async () => {
    const { out } = await run('explain', '--agent', 'x', '--command', 'ls \u001b[2J');
    expect(out).not.toContain('\u001b');
  });

  test.each([[[]], [['--command', 'ls', '--path', 'x']]])('%j is a usage error: one action at a time', async (argv) => {
    expect((await run('explain', '--agent', 'x', ...argv)).code).toBe(2);
  });
});

describe('policy test', () => {
  test('runs the cases and exits with 8 if one has an unexpected decision', async () => {
    const policy = file('p.yaml', 'version: 1\ndeny: [ { id: no, command: "rm ..." } ]\nallow: [ "execute(ls ...)", "mcp(a:*)" ]\n');
    const good = file(
      'good-cases.yaml',
      '- { command: ls, verdict: allow }\n- { command: rm x, verdict: deny, rule: no }\n- { mcp: "a:b", verdict: allow }\n',
    );
    const bad = file('bad-cases.yaml', '- { command: ls, verdict: allow }\n- { path: "$cwd/x", verdict: allow }\n');
    expect(await run('test', policy, good)).toMatchObject({ code: 0, out: '0 examples and 3 of 3 cases as expected\n' });
    expect(await run('test', policy, bad)).toMatchObject({
      code: 8,
      err: expect.stringMatching(/bad-cases\.yaml:2: expected allow, got ask/),
    });
  });

  test('a case may name the rule of a protected file as versions before 0.2 did', async () => {
    const policy = file('p.yaml', 'version: 1\nallow: [ "edit(**)" ]\n');
    const cases = (id: string) => file(`${id.replace(':', '-')}.yaml`, `- { path: "$cwd/.npmrc", verdict: ask, rule: "${id}" }\n`);
    expect((await run('test', policy, cases('protected:shell-startup'))).code).toBe(0);
    expect((await run('test', policy, cases('floor:shell-startup'))).code).toBe(0);
    expect((await run('test', policy, cases('floor:git-hooks'))).code).toBe(8);
    expect((await run('explain', '--policy', policy, '--path', '.npmrc', '--action', 'edit')).out).not.toContain('floor');
  });
});
