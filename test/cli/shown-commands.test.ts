// Commands in messages: with `--config FILE`, they name that file too, once, so that they do the same when a user repeats them.
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { nameConfiguration, shownCommands } from '../../src/cli/output.ts';
import { createHome, type Home } from './command.ts';
import { allCommands } from './command-tree.ts';

const fixture = (name: string, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, `../fixtures/${name}.mjs`), ...args],
});
const configured = (home: Home, agents: object) => {
  home.write('mine.jsonc', { agent_servers: agents });
  return ['--config', 'mine.jsonc'];
};

describe('the text of a message', () => {
  afterEach(() => nameConfiguration(undefined));

  test.each([
    ['run: switchboard doctor', 'run: switchboard --config mine.jsonc doctor'],
    [
      'switchboard agents test a --probe, then switchboard auth a',
      'switchboard --config mine.jsonc agents test a --probe, then switchboard --config mine.jsonc auth a',
    ],
    ['to start one, run: switchboard serve --background', 'to start one, run: switchboard --config mine.jsonc serve --background'],
    // These read no configuration, are no command, or have it already.
    ['switchboard sessions list', undefined],
    ['switchboard serve stop', undefined],
    ['switchboard changes how it starts', undefined],
    ['acpx switchboard exec "hello"', undefined],
    ['switchboard --config other.jsonc doctor', undefined],
  ])('%s', (text, expected = text) => {
    expect(shownCommands(text)).toBe(text);
    nameConfiguration('mine.jsonc');
    expect(shownCommands(text)).toBe(expected);
    expect(shownCommands(shownCommands(text))).toBe(expected);
  });

  test('a name with a space is quoted', () => {
    nameConfiguration("my 'own'.jsonc");
    expect(shownCommands('switchboard doctor')).toBe(`switchboard --config 'my '\\''own'\\''.jsonc' doctor`);
  });

  test('every command that reads a configuration is known, and no other', () => {
    nameConfiguration('x');
    const wrong = allCommands().filter(({ words, command }) => {
      const isGroup =
        command.commands.length > 0 && words.length > 0 && !command.options.some(({ long }) => long === '--agent' || long === '--json');
      const reads = command.options.some(({ long, hidden }) => long === '--config' && !hidden);
      const line = `switchboard ${words.join(' ')}${words.join() === 'serve' ? ' --open' : ''}`;
      return words.length > 0 && !isGroup && (shownCommands(line) !== line) !== reads;
    });
    expect(wrong.map(({ words }) => words.join(' '))).toEqual([]);
  });
});

test('a failed turn', async () => {
  const home = createHome();
  const options = configured(home, { crashes: fixture('crash-mid-turn', home.tmp), absent: { command: 'no-such-program' } });
  const [crashed, absent] = await Promise.all([
    home.run(['run', '-a', 'crashes', ...options, 'crash']),
    home.run([...options, 'run', '-a', 'absent', 'x']),
  ]);
  expect(crashed.stderr).toContain('switchboard --config mine.jsonc agents test crashes');
  expect(absent.stderr.match(/--config/g)?.length ?? 0).toBe(
    absent.stderr.match(/switchboard --config mine\.jsonc agents test/g)?.length ?? 0,
  );
});

test('the findings of doctor, in text and JSON, and a hint in the envelope', async () => {
  const home = createHome();
  const options = configured(home, { absent: { command: 'no-such-program' } });
  expect((await home.quick(['doctor', '--no-start', ...options])).stdout).toMatch(
    /next: .*switchboard --config mine\.jsonc agents remove absent/,
  );
  const { data } = JSON.parse((await home.quick([...options, 'doctor', '--no-start', '--json'])).stdout);
  const nexts = data.findings.map(({ next = '' }) => next);
  expect(nexts).toContainEqual(expect.stringContaining('switchboard --config mine.jsonc '));
  const { error } = JSON.parse((await home.quick(['compare', 'hello', '--json', ...options])).stdout);
  expect(error.hint).toBe('to add another, run: switchboard --config mine.jsonc agents add');
  // The next command in the same process has none.
  expect((await home.quick(['agents', 'add', 'nobody', '--offline'])).stderr).toContain('switchboard agents search');
});

test('what agents test and auth recommend', async () => {
  const home = createHome();
  const options = configured(home, { needs: fixture('requires-login', home.tmp) });
  expect((await home.quick(['agents', 'test', ...options])).stdout).toContain('switchboard --config mine.jsonc auth needs');
  expect((await home.quick(['auth', 'needs', ...options])).stdout).toContain('run: switchboard --config mine.jsonc auth needs METHOD');
});
