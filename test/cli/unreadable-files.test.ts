// Exit codes for files that cannot be read: 2 for input, 6 for a configuration or policy, 1 for our own state. Never a stack trace.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome } from './command.ts';

const MISSING = 'nowhere.txt';
const FOLDER = 'folder';

describe.each([
  { file: MISSING, why: 'ENOENT' },
  { file: FOLDER, why: 'EISDIR' },
])('$file', ({ file, why }) => {
  test('is a usage error (2) as input, and an invalid configuration (6) as a configuration or policy', async () => {
    const home = createHome();
    mkdirSync(path.join(home.project, FOLDER));
    const config = home.write('good.json', { agent_servers: { mine: { command: 'x' } } });
    const inputs = [
      ['replay', file],
      ['redact', file],
      ['audit', 'tail', '--file', file],
      ['audit', 'verify', '--file', file],
      ['policy', 'test', 'standard', file],
      ['policy', 'replay', file],
      ['policy', 'explain', '--agent', 'a', '--frame', file],
      ['run', '--file', file, 'hello'],
    ];
    const settings = [
      ['config', 'validate', file],
      ['config', 'trust', file],
      ['acp', '--config', file],
      ['acp', '--config', config, '--policy', `./${file}`],
      ['policy', 'check', `./${file}`],
      ['policy', 'trust', file],
    ];
    const all = [...inputs.map((words) => ({ words, code: 2 })), ...settings.map((words) => ({ words, code: 6 }))];
    const reports = [];
    for (const { words } of all) {
      const { code, stderr } = await (words[0] === 'run' ? home.run : home.quick)(words);
      expect(stderr, words.join(' ')).toMatch(new RegExp(`cannot (?:read .*|be read )\\(${why}\\)|file not found|not a regular file`));
      expect(stderr, words.join(' ')).toContain(file);
      expect(stderr).not.toContain('    at ');
      reports.push({ words, code });
    }
    expect(reports).toEqual(all);
  });
});

describe('a state directory', () => {
  test('that is a file fails the commands that read it (1), with a message and advice', async () => {
    const home = createHome();
    const file = home.write('plain-file', 'x');
    const lines = ['sessions list', 'sessions search x', 'sessions show x', 'sessions export x', 'sessions delete x', 'logs', 'audit tail'];
    for (const line of lines) {
      const { code, stdout, stderr } = await home.quick(line.split(' '), { SWITCHBOARD_HOME: file });
      expect({ line, code, stdout }).toEqual({ line, code: 1, stdout: '' });
      expect(stderr).toMatch(/^switchboard: cannot (?:use|read) .*plain-file.* \(ENOTDIR\)\n/);
      expect(stderr).not.toContain('    at ');
    }
  });

  test.skipIf(process.platform !== 'linux')('that cannot be created only disables persistence: the turn still runs', async () => {
    const { code, stdout, stderr } = await createHome().run(['run', '-o', 'simple', 'hello'], { SWITCHBOARD_HOME: '/proc/none/below' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('You said: "hello"') });
    expect(stderr).toContain('the state directory /proc/none/below cannot be used, so sessions and answers are not stored');
    // The frame log or the transcript, whichever fails first.
    expect(stderr).toMatch(/records are not kept: \/proc\/none\/below\/\S+\.jsonl cannot be written \(ENOENT\); switchboard retries/);
  });
});
