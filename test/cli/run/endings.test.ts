// How `run` ends: its exit code says what became of the turn.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, type Home } from '../command.ts';

const agent = (fixture: string, more: object = {}) => ({
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, `../../fixtures/${fixture}.mjs`), 'mine'],
  ...more,
});
const configured = (home: Home, more: object = {}, fixture = 'every-ending') =>
  home.write('given.json', { agent_servers: { mine: agent(fixture, more) } });
const policy = (home: Home, text: string) => home.write('p.yaml', `version: 1\n${text}`);

test.each([
  { prompt: 'hello', code: 0, says: '' },
  { prompt: 'cancelled', code: 1, says: '' },
  { prompt: 'nothing', code: 1, says: 'The agent broke the protocol: its answer to session/prompt has no stopReason' },
  { prompt: 'error', code: 1, says: 'no quota (error -32077)\n  data: {"plan":"free"}\n' },
])('a turn "$prompt" is exit code $code', async ({ prompt, code, says }) => {
  const home = createHome();
  const ended = await home.run(['run', '--config', configured(home), prompt]);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(says);
});

test('a turn that on_stall cancelled is exit code 3', async () => {
  const home = createHome();
  const config = configured(home, { on_stall: 'cancel', timeouts: { stall_ms: 1000 } });
  expect(await home.run(['run', '--config', config, 'silent'])).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('has been silent'),
  });
});

test.each(['cancel', 'kill'])('a turn that on_violation ended with "%s" is exit code 5', async (response) => {
  const home = createHome();
  const rules = policy(home, `deny: ["edit(**/.env)"]\nagents:\n  "*":\n    on_violation: ${response}\n`);
  const { code, stderr } = await home.run(['run', '--config', configured(home), '--policy', rules, `violate ${home.project}/.env`]);
  expect(code).toBe(5);
  expect(stderr).toContain('the agent did this without permission: edit:');
  expect(stderr).not.toContain('denied: edit');
});

describe('work that was refused is exit code 5', () => {
  test('by the policy', async () => {
    const home = createHome();
    const rules = policy(home, 'deny: ["edit(**)"]\n');
    const ended = await home.run(['run', '--config', configured(home), '--policy', rules, `ask edit ${home.project}/a`]);
    expect(ended).toMatchObject({ code: 5, stdout: expect.stringContaining('no\n'), stderr: expect.stringContaining('denied: edit:') });
  });

  test('for want of an answer, without a policy or with one that asks', async () => {
    const home = createHome();
    const config = configured(home);
    const rules = policy(home, 'ask: ["edit(**)"]\n');
    for (const more of [[], ['--policy', rules], ['--approve', 'none']])
      expect(await home.run(['run', '--config', config, ...more, `ask edit ${home.project}/a`])).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('denied:'),
      });
  });

  test('by compare, too', async () => {
    const home = createHome();
    const file = home.write('two.json', { agent_servers: { one: agent('every-ending'), two: agent('every-ending') } });
    const compared = (...words: string[]) => home.run(['compare', '--config', file, ...words]);
    expect(await compared(`ask edit ${home.project}/a`)).toMatchObject({ code: 5 });
    expect(await compared('--approve', 'all', `ask edit ${home.project}/a`)).toMatchObject({ code: 0 });
    expect(await compared('cancelled')).toMatchObject({ code: 1 });
    expect(await compared('nothing')).toMatchObject({ code: 1, stdout: expect.stringContaining('has no stopReason') });
  });
});

describe('--approve', () => {
  const answer = async (home: Home, words: readonly string[], prompt: string) =>
    (await home.run(['run', '-o', 'simple', '--config', configured(home), ...words, prompt])).stdout.trim();

  test.each([
    ['all', 'ask edit /outside', 'yes'],
    ['all', 'run rm -rf /', 'yes'],
    ['reads', 'ask read $cwd/a', 'yes'],
    ['reads', 'ask search $cwd', 'yes'],
    ['reads', 'ask read /etc/passwd', 'no'],
    ['reads', 'ask edit $cwd/a', 'no'],
    ['reads', 'run cat a', 'no'],
    ['none', 'ask read $cwd/a', 'no'],
  ])('%s answers "%s" with %s', async (what, prompt, answered) => {
    const home = createHome();
    expect(await answer(home, ['--approve', what], prompt.replaceAll('$cwd', home.project))).toBe(answered);
  });

  test.each([
    ['ask edit $cwd/a', 'yes'],
    ['run npm test > /dev/null', 'yes'],
    ['ask read /etc/passwd', 'yes'],
    ['ask edit /etc/passwd', 'no'],
    ['run echo x > /etc/passwd', 'no'],
    ['run rm -r ../other', 'no'],
  ])('is "all" within the working directory with --yolo: "%s" is answered with %s', async (prompt, answered) => {
    const home = createHome();
    expect(await answer(home, ['--yolo'], prompt.replaceAll('$cwd', home.project))).toBe(answered);
  });

  test('cannot approve what a policy denies, but answers what it asks', async () => {
    const home = createHome();
    const rules = policy(home, 'deny: ["edit(**/.env)"]\n');
    expect(await answer(home, ['--approve', 'all', '--policy', rules], `ask edit ${home.project}/.env`)).toBe('no');
    expect(await answer(home, ['--approve', 'all', '--policy', rules], `ask edit ${home.project}/a`)).toBe('yes');
  });
});

test('the audit log says that --approve answered, and not a user', async () => {
  const home = createHome();
  const rules = policy(home, 'ask: ["edit(**)"]\n');
  const prompt = `ask edit ${home.project}/a`;
  const two = home.write('two.json', { agent_servers: { one: agent('every-ending'), two: agent('every-ending') } });
  await home.run(['run', '--config', configured(home), '--policy', rules, '--yolo', prompt]);
  await home.run(['run', '--config', configured(home), '--policy', rules, '--approve', 'reads', prompt]);
  await home.run(['compare', '--config', two, '--policy', rules, '--approve', 'all', prompt]);
  // The demo agent asks, and then writes: one answer, two lines.
  await home.run(['run', '-a', 'builder', '--policy', rules, '--write', '--approve', 'all', '/edit a.txt']);
  const { stdout } = await home.quick(['audit', 'tail', '-n', '50']);
  const edits = stdout.split('\n').flatMap((line) => /^\S+ +(\w+ +\w+ .*edit: .*)$/.exec(line)?.[1] ?? []);
  const words = edits.map((line) => line.replace(/ +/g, ' ').replace(/edit: \S+ \((.*), .*/, '$1'));
  expect(words.sort()).toEqual([
    'ask allowed builder --approve',
    'ask allowed builder --approve: allow_once',
    'ask allowed mine --approve: allow_once',
    'ask allowed one --approve: allow_once',
    'ask allowed two --approve: allow_once',
    'ask prevented mine --approve: reject_once',
  ]);
});

describe('the agent of a turn', () => {
  const file = (home: Home, more: object) =>
    home.write('three.json', {
      agent_servers: Object.fromEntries(['first', 'second', 'third'].map((name) => [name, agent('every-ending')])),
      ...more,
    });
  const used = async (home: Home, ...words: string[]) =>
    JSON.parse((await home.run(['run', '-j', ...words, 'hello'])).stdout.split('\n')[0] ?? '').params.name;

  test('is named by --agent, a route, default_agent, or is the first listed', async () => {
    const home = createHome();
    const routes = [
      { cwd: `${home.project}/**`, agent: 'third' },
      { cwd: home.project, agent: 'third' },
    ];
    expect(await used(home, '--config', file(home, {}))).toBe('first');
    expect(await used(home, '--config', file(home, { default_agent: 'second' }))).toBe('second');
    expect(await used(home, '--config', file(home, { default_agent: 'second', routes }))).toBe('third');
    expect(await used(home, '--config', file(home, { default_agent: 'second', routes }), '-a', 'first')).toBe('first');
  });
});

describe('--resume', () => {
  test('prints only the new turn, also if the agent replays the session', async () => {
    const home = createHome();
    const config = configured(home, {}, 'no-resume');
    await home.run(['run', '--config', config, '--save-session', 'id', 'one']);
    for (const output of ['text', 'simple']) {
      const { code, stdout } = await home.run(['run', '--config', config, '-o', output, '--resume', 'latest', 'two']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^two by \d+;\n$/) });
    }
  });

  test('latest is the newest session of this directory', async () => {
    const home = createHome();
    expect(await home.run(['run', '--resume', 'latest', 'x'])).toMatchObject({ code: 4, stderr: expect.stringContaining('no session in') });
    await home.run(['run', '-a', 'builder', 'one']);
    await home.run(['run', '-a', 'sketcher', 'two']);
    expect((await home.run(['run', '-o', 'simple', '--resume', 'latest', '/whoami'])).stdout).toContain('"turns": 2');
    expect((await home.run(['run', '-o', 'simple', '-a', 'builder', '--resume', 'latest', '/whoami'])).stdout).toContain('"builder');
  });

  test('of an agent that is not configured any more is exit code 4, and no other agent gets it', async () => {
    const home = createHome();
    await home.run(['run', '--config', configured(home, {}, 'no-load'), 'remember the word plum']);
    const other = home.write('other.json', { agent_servers: { other: agent('every-ending') } });
    expect(await home.run(['run', '--config', other, '--resume', 'latest', 'which word?'])).toMatchObject({
      code: 4,
      stdout: '',
      stderr: 'switchboard: the session is one of agent "mine", which is not configured\n  configured agents: other\n',
    });
  });

  test('at an agent that cannot reopen sessions starts a new one with our transcript, and sends no session/load', async () => {
    const home = createHome();
    const config = configured(home, {}, 'no-load');
    await home.run(['run', '--config', config, 'remember the word plum']);
    const { code, stdout, stderr } = await home.run(['run', '--config', config, '-j', '--resume', 'latest', 'which word?']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('cannot reopen sessions') });
    expect(stdout).not.toContain('session/load');
    const prompt = stdout.split('\n').find((line) => line.includes('"session/prompt"')) ?? '';
    expect(JSON.parse(prompt).params.prompt).toEqual([
      { type: 'text', text: expect.stringContaining('remember the word plum'), annotations: { audience: ['assistant'] } },
      { type: 'text', text: 'which word?' },
    ]);
    const { data } = JSON.parse((await home.quick(['sessions', 'list', '--json'])).stdout);
    expect(data.sessions.map(({ title }: { title: string }) => title)).toEqual(['which word?', 'remember the word plum']);
  });
});

describe('--jsonl', () => {
  test("has every frame of the agent's connection as it is on the wire", async () => {
    const home = createHome();
    const wire = path.join(home.tmp, 'wire.jsonl');
    // Stands between us and the agent, and writes every byte down.
    const spy = home.write(
      'spy.mjs',
      `import { spawn } from 'node:child_process'; import { appendFileSync } from 'node:fs';
       const agent = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
       const note = (data) => appendFileSync(${JSON.stringify(wire)}, data);
       process.stdin.on('data', (data) => { note(data); agent.stdin.write(data); }).on('end', () => agent.stdin.end());
       agent.stdout.on('data', (data) => { note(data); process.stdout.write(data); });\n`,
    );
    const { command, args } = agent('every-ending');
    const config = home.write('given.json', { agent_servers: { mine: { command, args: [spy, ...args] } } });
    for (const flag of ['-j', '--jsonl']) {
      writeFileSync(wire, '');
      const { code, stdout } = await home.run(['run', '--config', config, '--raw', flag, 'hello']);
      const [first = '', ...lines] = stdout.trimEnd().split('\n');
      expect(code).toBe(0);
      expect(JSON.parse(first)).toMatchObject({ method: 'client/selected_agent', params: { name: 'mine', command } });
      const seen = (await import('node:fs')).readFileSync(wire, 'utf8').trimEnd().split('\n');
      expect(lines.toSorted()).toEqual(seen.toSorted());
      expect(lines.filter((line) => line.includes('"initialize"'))).toHaveLength(1); // live, also when its answer is cached
    }
  });

  test('hides the values of secrets that we know, and only those; --raw hides none', async () => {
    const home = createHome();
    const config = configured(home, { env: { MY_KEY: 'hunter2-hunter2' } });
    const prompt = 'hunter2-hunter2 and sk-ant-REDACTED';
    const { stdout } = await home.run(['run', '--config', config, '-j', prompt]);
    expect(stdout).toContain('[redacted:MY_KEY] and sk-ant-REDACTED');
    expect(stdout).not.toContain('hunter2-hunter2');
    expect((await home.run(['run', '--config', config, '-j', '--raw', prompt])).stdout).toContain(prompt);
    expect(await home.run(['run', '--raw', prompt])).toMatchObject({ code: 2, stderr: expect.stringContaining('--raw requires -o jsonl') });
  });

  test('prints nothing for an agent that did not start', async () => {
    const home = createHome();
    const config = home.write('given.json', { agent_servers: { mine: { command: 'no-such-program' } } });
    expect(await home.run(['run', '--config', config, '-j', 'hello'])).toMatchObject({ code: 7, stdout: '' });
  });

  test('excludes another --output', async () => {
    expect(await createHome().run(['run', '-j', '-o', 'text', 'x'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('the output', () => {
  const shown = async (...words: string[]) => {
    const home = createHome();
    return (await home.run(['run', '--config', configured(home), ...words])).stdout;
  };

  test('simple is the assistant’s text and nothing else', async () => {
    expect(await shown('-o', 'simple', 'parts')).toBe('one answer\nin two lines\n');
  });

  test('text is never broken by [commands], and a tool call shows its place', async () => {
    const text = await shown('parts');
    expect(text).toContain('one [image image/png]answer\nin two lines\n[commands] /plan /go\n[tool] Look (read, pending) /w/a.c:7\n');
  });

  test('of --list-commands has the description and the input hint', async () => {
    for (const kind of ['text', 'simple'])
      expect(await shown('-o', kind, '--list-commands')).toBe('/plan <what to plan>  Make a plan\n/go                   Go\n');
  });

  test('with --verbose tells on stderr which agent is used and how it ended', async () => {
    const home = createHome();
    const { stdout, stderr } = await home.run(['run', '--config', configured(home), '-o', 'simple', '--verbose', 'hello']);
    expect(stdout).toMatch(/^hello by \d+;\n$/);
    expect(stderr).toMatch(/configuration: .*given\.json; agent: mine\n/);
    expect(stderr).toMatch(/session: ending-\d+\n/);
    expect(stderr).toMatch(/finished in [\d.]+ s with exit code 0\n$/);
  });
});
