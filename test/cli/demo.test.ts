import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createPage, wantsColour } from '../../src/cli/demo/page.ts';
import { createHome } from './command.ts';

const NEVER = '{ "agent_servers": { "mine": { "command": "must-not-be-started" } } }';

test('the tour runs both agents, answers a permission question and leaves nothing behind', async () => {
  const home = createHome();
  const { code, stdout, stderr } = await home.run(['demo']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(45);
  for (const expected of [
    /agents {4}Sketcher \S+, Builder \S+/,
    /sketcher {2}the default agent: .*\[Sketcher\] Builder/,
    /builder {3}asked for by _meta: .*Sketcher \[Builder\]/,
    /sketcher {2}Sketcher here\./,
    /builder {3}Builder here\./,
    /builder {3}asks: Edit notes\.txt\?/,
    / \+ Builder was here in turn 2\./,
    /editor {4}answers: Allow/,
    /on disk {3}notes\.txt, .*"Garden shed", "Builder was here in turn 2\."/,
    /builder {3}"What goes into a garden shed\?" {2}builder-/,
    /sketcher {2}"How does one start a garden shed\?" {2}sketcher-/,
    /exit code 0 after \d+ ms/,
    /Try next:/,
  ])
    expect(stdout).toMatch(expected);
  expect(stdout).not.toContain('\u001b');
  if (process.platform === 'linux') expect(stdout).toContain('processes left: none');

  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
  expect(readdirSync(home.home)).toEqual([]);
  expect(readdirSync(home.project)).toEqual([]);
});

test('the tour uses the embedded agents, whatever is configured', async () => {
  const home = createHome();
  home.write(home.userFile, NEVER);
  home.write('switchboard.jsonc', NEVER);
  expect(await home.run(['demo'], { SWITCHBOARD_CONFIG: home.userFile, XDG_CONFIG_HOME: home.home })).toMatchObject({
    code: 0,
    stderr: '',
  });
});

test.each([
  { signal: 'SIGINT', code: 130 },
  { signal: 'SIGTERM', code: 143 },
] as const)('$signal ends the tour with exit code $code and leaves nothing behind', async ({ signal, code }) => {
  const home = createHome();
  const tour = home.start(['demo']);
  await tour.said('2. session/new');
  tour.child.kill(signal);
  expect(await tour.ended).toMatchObject({ code, stderr: '' });
  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
});

test('a reader that leaves early ends the tour quietly', async () => {
  const home = createHome();
  const tour = home.start(['demo']);
  await tour.said('1. initialize');
  tour.child.stdout.destroy();
  expect(await tour.ended).toMatchObject({ code: 0, stderr: '' });
  expect(home.processesLeft()).toEqual([]);
  expect(readdirSync(home.tmp)).toEqual([]);
});

test('a tour on which something does not hold ends with exit code 1 and says what', async () => {
  const home = createHome();
  const saboteur = home.write('saboteur.cjs', 'if (process.argv.includes("acp")) { console.error("no bits left"); process.exit(9); }');
  const { code, stderr } = await home.run(['demo'], { NODE_OPTIONS: `--require=${saboteur}` });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^switchboard: the tour stops here: .+\n {2}switchboard acp said:\n {2}no bits left\n$/);
  expect(readdirSync(home.tmp)).toEqual([]);
});

test('without a place for files there is no tour', async () => {
  const { code, stderr } = await createHome().run(['demo'], { TMPDIR: '/no/such/directory' });
  expect(code).toBe(1);
  expect(stderr).toContain('switchboard: the tour stops here: ENOENT');
});

test.each([
  { isTty: true, env: {}, wants: true },
  { isTty: false, env: {}, wants: false },
  { isTty: true, env: { NO_COLOR: '1' }, wants: false },
  { isTty: true, env: { NO_COLOR: '' }, wants: true },
  { isTty: true, env: { TERM: 'dumb' }, wants: false },
])('colour on a terminal ($isTty) with $env: $wants', ({ isTty, env, wants }) => {
  expect(wantsColour(isTty, env)).toBe(wants);
});

test('the same lines with and without colour', () => {
  const [plain, coloured] = [false, true].map((hasColour) => {
    let written = '';
    const page = createPage((text) => {
      written += text;
    }, hasColour);
    page.heading('session/new');
    page.line('builder', 'hello');
    page.diff('+', 'one more');
    return written;
  });
  expect(plain).toBe('\n1. session/new\n   builder   hello\n             + one more\n');
  expect(coloured).not.toBe(plain);
  expect(coloured?.replaceAll(/\p{Cc}\[\d+m/gu, '')).toBe(plain);
});
