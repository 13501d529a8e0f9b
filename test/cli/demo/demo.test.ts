// `switchboard demo`: the tour with the embedded agents.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPage } from '../../../src/cli/demo/page.ts';
import { createHome, HAS_TERMINAL } from '../command.ts';

const NEVER = '{ "agent_servers": { "mine": { "command": "must-not-be-started" } } }';

const HEADINGS = [
  '1. Two agents in one connection',
  '2. One policy for all agents: every verdict names its rule',
  '3. Host tools for every agent, over MCP',
  '4. An agent crashes in the middle of a turn',
  '5. The editor quits: stdin closes',
  '6. Everything is logged, without secrets',
];

test('the tour shows two agents, a policy, a tool, a crash and a secret with any configuration, and leaves nothing behind', async () => {
  const home = createHome();
  home.write(home.userFile, NEVER);
  home.write('switchboard.jsonc', NEVER);
  const { code, stdout, stderr } = await home.run(['demo', '--fast'], { SWITCHBOARD_CONFIG: home.userFile, XDG_CONFIG_HOME: home.home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  // The commands at the end contain the path to our program, which may be long.
  expect(lines.slice(0, lines.indexOf('Next steps')).filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(60);
  expect(lines.filter((line) => /^\d\. /.test(line))).toEqual(HEADINGS);
  for (const expected of [
    /agents {4}Sketcher \S+, Builder \S+/,
    /session {3}the default agent: .*\[Sketcher\] {2}Builder/,
    /session {3}selected by the editor: .*Sketcher {2}\[Builder\]/,
    /sketcher {2}Sketcher here\./,
    /builder {3}Builder here\. You said: "Use ghp_\w{30} to/,
    / \+ Builder was here in turn 2\./,
    /allow {5}edit notes\.txt: rule project \(policy\.yaml:7\)/,
    /deny {6}read \.env: rule secrets \(policy\.yaml:3\), secrets stay here/,
    /asks you {2}Edit package\.json .*\n {3}you {7}Reject\n {3}ask {7}edit package\.json: rule manifest/,
    /asks you {2}Which colour .*\n {3}you {7}Green\n {3}sketcher {2}got the answer: ask_question answered: Green/,
    /error {5}Agent "builder" exited \(signal SIGKILL\)/,
    /sketcher {2}kept streaming: 11 chunks, none lost/,
    /builder {3}next prompt: process \d+, the same session, turn 6/,
    /exit code 0 after \d+ ms/,
    /logs {6}\S+ {2}builder {2}down: agent_exited/,
    /sessions {2}your prompt: Use \[redacted:github\] to deploy it/,
    /audit {5}intact: \d+ decisions/,
    /Next steps\n(?: {3}node .*\n){3}/,
  ])
    expect(stdout).toMatch(expected);
  expect(stdout).not.toContain('\u001b');
  if (process.platform === 'linux') expect(stdout).toContain('processes left: none');

  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
  expect(readdirSync(home.home)).toEqual(['.config']);
  expect(readdirSync(home.project)).toEqual(['switchboard.jsonc']);
});

test('the picture of the tour in the README matches the tour', () => {
  const picture = readFileSync(path.resolve(import.meta.dirname, '../../../docs/images/demo.svg'), 'utf8');
  expect(HEADINGS.filter((heading) => !picture.includes(heading))).toEqual([]);
});

test.runIf(HAS_TERMINAL)('on a terminal it has colours, and Ctrl-C ends it with nothing left behind', async () => {
  const home = createHome();
  const tour = home.startInTerminal(['demo']);
  await tour.printed(HEADINGS[1] as string);
  tour.child.stdin.write('\u0003');
  const { code, stdout } = await tour.ended;
  expect(code).toBe(130);
  expect(stdout).toContain('\u001b[36msketcher');
  expect(stdout).not.toContain(HEADINGS.at(-1));
  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
});

// With a terminal, the test above covers SIGINT.
test.each([...(HAS_TERMINAL ? [] : [{ signal: 'SIGINT', code: 130 } as const]), { signal: 'SIGTERM', code: 143 } as const])(
  '$signal ends the tour with exit code $code and leaves nothing behind',
  async ({ signal, code }) => {
    const home = createHome();
    const tour = home.start(['demo']);
    await tour.printed('2. One policy');
    tour.child.kill(signal);
    expect(await tour.ended).toMatchObject({ code, stderr: '' });
    expect(home.processesLeft()).toEqual([]);
    expect(readdirSync(home.tmp)).toEqual([]);
  },
);

test('a reader that closes the pipe early ends the tour quietly', async () => {
  const home = createHome();
  const tour = home.start(['demo']);
  await tour.printed('1. Two agents');
  tour.child.stdout.destroy();
  expect(await tour.ended).toMatchObject({ code: 0, stderr: '' });
  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
});

test('a tour with a failing step exits with 1 and names the step', async () => {
  const home = createHome();
  // The connection ends first, and its message comes later.
  const sabotage = `require('node:fs').closeSync(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); console.error('no bits left'); process.exit(9);`;
  const saboteur = home.write('saboteur.cjs', `if (process.argv.includes('acp')) { ${sabotage} }`);
  const { code, stderr } = await home.run(['demo'], { NODE_OPTIONS: `--require=${saboteur}` });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^switchboard: the tour failed: .+\n {2}output of switchboard acp:\n {2}no bits left\n$/);
  expect(readdirSync(home.tmp)).toEqual([]);
});

test('without a place for temporary files there is no tour', async () => {
  const { code, stderr } = await createHome().run(['demo'], { TMPDIR: '/no/such/directory' });
  expect(code).toBe(1);
  expect(stderr).toContain('switchboard: the tour failed: ENOENT');
});

function pageOf(isTerminal: boolean, env: NodeJS.ProcessEnv, columns: number | undefined = undefined): string {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const page = createPage({ write, isTerminal, columns, env, isPaced: false, signal: new AbortController().signal });
  page.heading('session/new');
  page.line('builder', 'hello\u001b[2J there');
  page.diff('+', 'one more');
  return written;
}

test('the lines are the same with and without colour, and no control characters from an agent reach a terminal', () => {
  const plain = '\n1. session/new\n   builder   hello\ufffd[2J there\n             + one more\n';
  expect(pageOf(true, { NO_COLOR: '1' })).toBe(plain);
  const coloured = pageOf(true, {});
  expect(coloured).not.toBe(plain);
  expect(coloured.replaceAll(/\p{Cc}\[\d+m/gu, '')).toBe(plain);
});

test('a line that is too long is truncated, but only on a terminal', () => {
  expect(pageOf(true, { NO_COLOR: '1' }, 22)).toContain('   builder   hello\ufffd[…\n');
  expect(pageOf(false, {}, 22)).toContain('there\n');
});

test('a paced page is printed line by line, and stops at once when it is interrupted', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const interrupted = new AbortController();
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const page = createPage({ write, isTerminal: true, columns: 80, env: { NO_COLOR: '1' }, isPaced: true, signal: interrupted.signal });
  for (const text of ['one', 'two', 'three']) page.plain(text);
  const shown = page.shown();
  await vi.advanceTimersByTimeAsync(0);
  expect(written).toEqual(['one\n']);
  interrupted.abort();
  await expect(shown).rejects.toThrow('aborted');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toEqual(['one\n']);
});
