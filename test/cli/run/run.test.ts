// `switchboard run`: output formats, prompts, files, sessions, terminals and failures.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createHome, HAS_TERMINAL, type Home } from '../command.ts';

const frames = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
/** An agent that ignores cancel and writes to the path in its prompt. */
const stubborn = { command: process.execPath, args: [path.resolve(import.meta.dirname, '../../fixtures/ignores-cancel.mjs'), 'mine'] };
const builder = {
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, '../../../dist/demo-agent.js'), '--name', 'builder'],
};
const YES = { version: 1, allow: ['read($cwd/**)', 'edit($cwd/**)'] };

/** A configuration without the demo agents: one agent with this name and this program. */
const configured = (home: Home, agent: object, more: object = {}) => home.write('given.json', { agent_servers: { mine: agent }, ...more });

describe('the output', () => {
  test('as text streams the answer and tags everything else', async () => {
    const { code, stdout } = await createHome().run(['run', '/plan']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\[commands\] \/plan .*\n\[thought\] .+\n\[plan\]\n {2}\[ \] Understand the work ahead\n/);
    expect(stdout).toContain('Sketcher has a plan for the work ahead: 3 steps, all of them done.\n');
    expect(stdout).toMatch(/\[usage\] \d+ of 200000 tokens\n$/);
  });

  test("as simple has only the assistant's answer", async () => {
    const { code, stdout } = await createHome().run(['run', '-o', 'simple', '-a', 'builder', 'hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Builder here\. You said: "hello"\. [^\n]*\n$/) });
  });

  test.each(['jsonl', 'json'])('as %s has the agent, then every frame in both directions, and nothing else', async (kind) => {
    const { code, stdout } = await createHome().run(['run', '-o', kind, 'hello']);
    expect(code).toBe(0);
    const all = frames(stdout);
    expect(all[0]).toEqual({ jsonrpc: '2.0', method: 'client/selected_agent', params: { name: 'sketcher', command: expect.any(String) } });
    expect(all.filter(({ method, id }) => method !== undefined && id !== undefined).map(({ method }) => method)).toEqual([
      'initialize',
      'session/new',
      'session/prompt',
    ]);
    expect(all.at(-1).result).toMatchObject({ stopReason: 'end_turn' });
    expect(all.filter(({ method }) => method === 'session/update').length).toBeGreaterThan(2);
  });
});

describe('the prompt', () => {
  test('is read from stdin if there are no arguments', async () => {
    const { child, ended } = createHome().start(['run', '-o', 'simple']);
    child.stdin.end('from a pipe\n');
    expect((await ended).stdout).toContain('You said: "from a pipe"');
  });

  test('may follow --, whatever it starts with', async () => {
    expect((await createHome().run(['run', '-o', 'simple', '--', '--help', 'me'])).stdout).toContain('You said: "--help me"');
  });

  test('that is empty is an error', async () => {
    const { code, stderr } = await createHome().run(['run']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('the prompt on stdin is empty\n  switchboard run "your prompt"'),
    });
  });

  test('includes files', async () => {
    const home = createHome();
    home.write('notes.txt', 'some notes');
    const { code, stdout } = await home.run(['run', '-o', 'jsonl', '--file', 'notes.txt', 'look']);
    expect(code).toBe(0);
    const { prompt } = frames(stdout).find(({ method }) => method === 'session/prompt').params;
    expect(prompt).toEqual([
      { type: 'text', text: 'look' },
      { type: 'resource', resource: { uri: expect.stringMatching(/^file:.*notes\.txt$/), mimeType: 'text/plain', text: 'some notes' } },
    ]);
  });
});

describe('files', () => {
  test('are not written without --write: the agent is not offered the capability', async () => {
    const home = createHome();
    expect((await home.run(['run', '/edit', 'a.txt'])).stdout).toContain('your editor lets me change no files');
    expect(readdirSync(home.project)).toEqual([]);
  });

  test('are written with --write if a policy allows what nobody can approve', async () => {
    const home = createHome();
    const policy = home.write('p.yaml', JSON.stringify(YES));
    const { stdout } = await home.run(['run', '--write', '--policy', policy, '/edit', 'a.txt']);
    expect(stdout).toMatch(/\[diff\] .*a\.txt\n@@ -0,0 \+1 @@\n\+Sketcher was here/);
    expect(readFileSync(path.join(home.project, 'a.txt'), 'utf8')).toContain('Sketcher was here');
  });

  test('are not written without a policy and without a terminal; the denial is reported with advice', async () => {
    const home = createHome();
    const { stdout, stderr } = await home.run(['run', '--write', '/edit', 'a.txt']);
    expect(stdout).toContain('I left a.txt as it was');
    expect(stderr).toMatch(
      /^switchboard: denied: .*a\.txt\nswitchboard: without a terminal, a policy or --approve must allow this: use --policy FILE/m,
    );
    expect(existsSync(path.join(home.project, 'a.txt'))).toBe(false);
    const policy = home.write('p.yaml', 'version: 1\nallow: ["read($cwd/**)"]\ndeny: ["edit(**/a.txt)"]\n');
    const denied = await home.run(['run', '--write', '--policy', policy, '/edit', 'a.txt']);
    expect(denied.stderr).toMatch(/^switchboard: denied: edit: .*a\.txt; deny by rule deny\[0\] \(.*p\.yaml:3\)$/m);
  });

  test('outside the working directory are read with --yolo, but never written', async () => {
    const home = createHome();
    const config = configured(home, stubborn);
    const outside = home.write('../outside.txt', 'theirs');
    const turn = async (flag: string, words: string) => (await home.run(['run', '-o', 'simple', '--config', config, flag, words])).stdout;
    expect(await turn('--write', `read ${outside}`)).toContain('outside the session directories');
    expect(await turn('--yolo', `read ${outside}`)).toContain('ok {"content":"theirs"}');
    expect(await turn('--yolo', `write ${outside}`)).toMatch(/^error -32602: The path is outside the session directories/);
    expect(await turn('--yolo', `write ${path.join(home.project, 'in.txt')}`)).toContain('ok ');
    expect(readFileSync(outside, 'utf8')).toBe('theirs');
    const refused = await home.run(['run', '-o', 'simple', '--config', config, '--yolo', `write ${outside}`]);
    expect(refused).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`denied: write ${outside}; it is outside the working directory`),
    });
  });
});

describe('a session', () => {
  test('can be saved by its id and resumed', async () => {
    const home = createHome();
    await home.run(['run', '-a', 'builder', '--save-session', 'id.txt', 'one']);
    const id = readFileSync(path.join(home.project, 'id.txt'), 'utf8').trim();
    const { code, stdout } = await home.run(['run', '-o', 'simple', '--resume', id, '/whoami']);
    expect(code).toBe(0);
    expect(stdout).toContain(`"sessionId": "${id}"`);
    expect(stdout).toContain('"turns": 2');
    const [first] = frames((await home.run(['run', '-o', 'jsonl', '--resume', id, 'more'])).stdout);
    expect(first.params.name).toBe('builder');
  });

  test('that does not exist is exit code 4', async () => {
    const { code, stderr } = await createHome().run(['run', '--resume', 'nothing', 'hi']);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('unknown session "nothing"') });
  });

  test('gets its mode and options first, and unknown values are refused with a list', async () => {
    const home = createHome();
    const { stdout } = await home.run(['run', '-o', 'simple', '--mode', 'code', '/whoami']);
    expect(stdout).toContain('"mode": "code"');
    expect(await home.run(['run', '--mode', 'warp', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('modes: ask, code'),
    });
    expect(await home.run(['run', '--option', 'colour=red', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown option "colour"'),
    });
  });

  test('lists its commands without a prompt', async () => {
    const { code, stdout } = await createHome().run(['run', '--list-commands']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\/plan <TOPIC> +Make a plan and follow it\n\/edit /) });
    const home = createHome();
    const none = await home.run(['run', '--list-commands', '--timeout', '0.5', '--config', configured(home, stubborn)]);
    expect(none).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('announced no commands within 0.5 s') });
  });

  test('without a prompt is not kept; one whose turn failed is', async () => {
    const home = createHome();
    await home.run(['run', '--mode', 'warp', 'x']);
    await home.run(['run', '--list-commands']);
    await home.run(['run', '--file', 'nowhere.txt', 'x']);
    const listed = async () => JSON.parse((await home.run(['sessions', 'list', '--json'])).stdout).data.sessions;
    expect(await listed()).toEqual([]);
    const crashes = {
      command: process.execPath,
      args: [path.resolve(import.meta.dirname, '../../fixtures/crash-mid-turn.mjs')],
      env: { FIXTURE_DIR: home.tmp },
    };
    expect((await home.run(['run', '--config', configured(home, crashes), 'crash'])).code).toBe(1);
    expect(await listed()).toMatchObject([{ agent: 'mine', turns: 1, stopReason: 'error' }]);
  });
});

test('without --write nothing is written or run, even if the configuration serves files and terminals', async () => {
  const home = createHome();
  const policy = { version: 1, allow: [...YES.allow, 'execute'] };
  const config = configured(home, builder, { workspace: 'serve-missing', policy });
  const run = (...words: string[]) => home.run(['run', '-o', 'simple', '--config', config, ...words]);
  expect((await run('/edit a.txt')).stdout).toContain('lets me change no files');
  expect((await run('/run touch b.txt')).stdout).toContain('has no terminal');
  expect(readdirSync(home.project)).toEqual(['given.json']);
  expect((await run('--write', '/run touch b.txt')).stdout).toContain('exit code 0');
  expect(readdirSync(home.project)).toEqual(['b.txt', 'given.json']);
});

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  /** What the terminal shows, and a way to type. */
  function atTerminal(home: Home, words: readonly string[]) {
    const extra = { NO_COLOR: '1', SWITCHBOARD_HOME: path.join(home.home, 'state') };
    const { child, ended } = home.startInTerminal(words, extra);
    let screen = '';
    child.stdout.on('data', (text: string) => {
      screen += text;
    });
    const shows = (text: string, times = 1) =>
      vi.waitFor(() => expect(screen.split(text).length).toBeGreaterThan(times), { timeout: 25_000, interval: 20 });
    const asks = (times: number) => shows('> ', times);
    /** Before the prompt the terminal itself handles keys, and takes Ctrl-D for the end of input. */
    const asksBehind = (text: string) =>
      vi.waitFor(() => expect(screen.slice(screen.lastIndexOf(text))).toContain('> '), { timeout: 25_000, interval: 20 });
    return {
      type: (keys: string) => child.stdin.write(keys),
      shows,
      asks,
      asksBehind,
      ended: ended.then(({ code }) => code),
      screen: () => screen,
    };
  }

  test.each([
    ['y', true],
    ['n', false],
  ])('a permission request shows the change and its keys; %s answers it', async (key, isWritten) => {
    const home = createHome();
    const { type, shows, ended } = atTerminal(home, ['run', '--write', '/edit a.txt']);
    await shows('[permission]');
    await shows('+Sketcher was here');
    await shows('  n  ');
    type(key);
    expect(await ended).toBe(0);
    expect(existsSync(path.join(home.project, 'a.txt'))).toBe(isWritten);
  });

  test.each([
    ['without a policy', {}],
    ['under a policy', { policy: { version: 1 } }],
  ])('a request whose title is not what it does says so first, %s', async (_, more) => {
    const home = createHome();
    const liar = { command: process.execPath, args: [path.resolve(import.meta.dirname, '../../fixtures/misleading-title.mjs')] };
    const { type, shows, ended, screen } = atTerminal(home, ['run', '--config', configured(home, liar, more), 'go']);
    await shows('  n  ');
    expect(screen()).toContain('asks for permission: The title is not what this does. Run rm -rf src. Title: “git status”');
    type('n');
    expect(await ended).toBe(0);
  });

  test('Ctrl-C at a permission request cancels the turn too', async () => {
    const home = createHome();
    const { type, shows, ended } = atTerminal(home, ['run', '--write', '/edit a.txt']);
    await shows('  n  ');
    type('\u0003');
    expect(await ended).toBe(130);
    expect(existsSync(path.join(home.project, 'a.txt'))).toBe(false);
  });

  test('Ctrl-C as a key cancels the turn', async () => {
    const { type, shows, ended } = atTerminal(createHome(), ['run', '/slow 60']);
    await shows('2 of');
    type('\u0003');
    expect(await ended).toBe(130);
  });

  test('-i reads several prompts in one session, and Ctrl-C ends a turn but not the session', async () => {
    const { type, shows, asks, ended } = atTerminal(createHome(), ['run', '-i', '-o', 'simple']);
    await asks(1);
    type('first\r');
    await shows('You said: "first"');
    await asks(2);
    type('/slow 60\r');
    await shows('2 of');
    type('\u0003');
    await asks(3);
    type('/whoami\r');
    await shows('"turns": 3');
    await asks(4);
    type('\u001b[A\u001b[A\u001b[A\r'); // the third prompt from the end
    await shows('You said: "first"', 2);
    await asks(8); // each step through the history redraws the line
    type('\u0004');
    expect(await ended).toBe(0);
  });

  test('-i: agent output appears above the line that the user types, which is redrawn; a cancelled turn is reported', async () => {
    const { type, shows, asks, asksBehind, ended, screen } = atTerminal(createHome(), ['run', '-i']);
    await shows('[commands]');
    await asks(1);
    type('/slow 60\r');
    await shows('2 of');
    type('\u0003');
    await asksBehind('[stopped] cancelled');
    type('\u0004');
    expect(await ended).toBe(0);
    const [before = ''] = screen().split('[commands]');
    if (before.includes('> ')) expect(before.endsWith('\u001b[0J')).toBe(true); // the line is erased first
  });

  test('a command that speaks a protocol on stdin says so when stdin is a terminal', async () => {
    const { type, shows, ended } = atTerminal(createHome(), ['acp']);
    await shows('waiting for an editor on stdin, but stdin is a terminal');
    type('\u0003');
    expect(await ended).toBe(130);
  });
});

describe('failures', () => {
  test('Ctrl-C cancels the turn: exit code 130, and no process is left', async () => {
    const home = createHome();
    const { child, printed, ended } = home.start(['run', '/slow 60']);
    await printed('2 of');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(home.processesLeft()).toEqual([]);
  });

  test('a second Ctrl-C kills an agent that ignores the first; SIGTERM shuts down gracefully', async () => {
    const home = createHome();
    const { child, printed, ended } = home.start(['run', '--config', configured(home, stubborn), 'hang']);
    await printed('hanging');
    child.kill('SIGINT');
    child.kill('SIGINT');
    const again = setInterval(() => child.kill('SIGINT'), 200); // two signals at once may be delivered as one
    expect((await ended).code).toBe(130);
    clearInterval(again);
    const stopped = home.start(['run', '/slow 60']);
    await stopped.printed('2 of');
    stopped.child.kill('SIGTERM');
    expect(await stopped.ended).toMatchObject({ code: 143, stderr: expect.stringContaining('ended by SIGTERM') });
    expect(home.processesLeft()).toEqual([]);
  });

  test('a timeout is exit code 3', async () => {
    const { code, stderr } = await createHome().run(['run', '--timeout', '0.5', '/slow 60']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('the turn did not finish within 0.5 s') });
  });

  test('an unknown agent is exit code 4, and the error lists the configured agents', async () => {
    expect(await createHome().run(['run', '-a', 'bilder', 'x'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('did you mean "builder"?'),
    });
  });

  test('a command that cannot be started is exit code 7, without a stack trace', async () => {
    const home = createHome();
    const { code, stderr } = await home.run(['run', '--config', configured(home, { command: 'no-such-agent' }), 'x']);
    expect(code).toBe(7);
    expect(stderr.match(/Agent "mine" did not start.*no-such-agent/g)).toHaveLength(1);
    expect(stderr).toContain('Check "command" in agent_servers.mine');
    expect(stderr).not.toContain('    at ');
  });

  test('an invalid configuration is exit code 6', async () => {
    const home = createHome();
    expect((await home.run(['run', '--config', configured(home, { command: 5 }), 'x'])).code).toBe(6);
  });

  test.each([
    [['run', '-i', 'x'], '-i needs a terminal'],
    [['run', ' '], 'the prompt is empty'],
    [['run', '--timeout', 'soon', 'x'], 'number of seconds'],
    [['run', '-o', 'yaml', 'x'], 'Allowed choices are'],
    [['run', '--file', 'nowhere.txt', 'x'], 'cannot read attachment nowhere.txt (ENOENT)'],
    [['run', '-a', 'builder', '--image', 'notes.txt', 'x'], 'does not accept images'],
  ])('%j is exit code 2', async (words, complaint) => {
    expect(await createHome().run(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(complaint) });
  });
});
