// Mistakes in the configuration of `run`: each is reported in one message with its location and the right exit code.
import { expect, test } from 'vitest';
import { createHome } from './command.ts';

const CASES: readonly { wrong: string; settings?: string; words?: readonly string[]; code: number; says: RegExp }[] = [
  { wrong: 'a file that is missing', code: 6, says: /settings\.json:1:1: file not found \(set by --config\)\n$/ },
  { wrong: 'a file that is malformed', settings: '{ "agent_servers": { ]', code: 6, says: /settings\.json:1:\d+: syntax error.*\n$/ },
  { wrong: 'no agents', settings: '{}', code: 6, says: /settings\.json:1:1: .*agent.*\n$/ },
  { wrong: 'an empty list of agents', settings: '{ "agent_servers": {} }', code: 6, says: /settings\.json:1:\d+: .*agent.*\n$/ },
  {
    wrong: 'an agent that is not there',
    settings: '{ "agent_servers": { "mine": { "command": "x" } } }',
    words: ['-a', 'mien'],
    code: 4,
    says: /^switchboard: unknown agent "mien"\n {2}did you mean "mine"\? configured agents: mine\n$/,
  },
  {
    wrong: 'an agent without a command',
    settings: '{ "agent_servers": { "mine": {} } }',
    code: 6,
    says: /settings\.json:1:\d+: .*command.*\n$/,
  },
  {
    wrong: 'a command that is not a string',
    settings: '{ "agent_servers": { "mine": { "command": 7 } } }',
    code: 6,
    says: /settings\.json:1:\d+: agent_servers\.mine\.command: .*string.*\n$/,
  },
  {
    wrong: 'an argument that is not a string',
    settings: '{ "agent_servers": { "mine": { "command": "x", "args": ["a", 1] } } }',
    code: 6,
    says: /settings\.json:1:\d+: agent_servers\.mine\.args\[1\]: .*string.*\n$/,
  },
  {
    wrong: 'a variable that is not a string',
    settings: '{ "agent_servers": { "mine": { "command": "x", "env": { "A": true } } } }',
    code: 6,
    says: /settings\.json:1:\d+: agent_servers\.mine\.env\.A: .*string.*\n$/,
  },
  {
    wrong: 'a variable that is not set',
    settings: `{ "agent_servers": { "mine": { "command": "x", "env": { "A": "\${env:NOT_SET_HERE}" } } } }`,
    code: 6,
    says: /agent_servers\.mine\.env\.A: environment variable "NOT_SET_HERE" is not set; .*"enabled": false.*\n$/,
  },
  {
    wrong: 'a key that is nearly one',
    settings: '{ "agent_servers": { "mine": { "comand": "x" } } }',
    code: 6,
    says: /settings\.json:1:\d+: .*"comand".*did you mean "command"\?/,
  },
  {
    wrong: 'a command that cannot be started',
    settings: '{ "agent_servers": { "mine": { "command": "no-such-program" } } }',
    code: 7,
    says: /mine.*no-such-program/s,
  },
];

test.each(CASES)('$wrong: exit code $code', async ({ settings, words = [], code, says }) => {
  const home = createHome();
  if (settings !== undefined) home.write('settings.json', settings);
  const args = ['run', '--config', 'settings.json', ...words, 'hello'];
  const ended = await (code === 6 ? home.quick(args) : home.run(args)); // an invalid configuration starts nothing
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
  expect(ended.stderr).toMatch(says);
  expect(ended.stderr).not.toMatch(/^ {4}at /m); // no stack trace
});
