// What the pages tell readers to copy works: configurations are valid, policies load and are checked, command lines parse.
// test/app/package.test.ts compiles and runs the library's example, and test/mcp/examples.test.ts the examples of docs/tools.md.
import type { Command } from 'commander';
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createProgram } from '../../src/cli/main.ts';
import { check } from '../../src/config/check.ts';
import { layerOf } from '../../src/config/layer.ts';
import { parseDocument } from '../../src/config/parse.ts';
import { renderProblem } from '../../src/config/problems.ts';
import { validate } from '../../src/config/validate.ts';
import { loadPolicy } from '../../src/policy/format/load.ts';
import { createHome } from '../cli/command.ts';
import { frontPages, pages, proseOf, type Snippet, snippetsOf, wordsOf } from './pages.ts';

const documents = [...frontPages, ...pages];
const snippets = documents.flatMap(snippetsOf);
const inLanguage = (...languages: string[]) => snippets.filter(({ language }) => languages.includes(language));
const place = ({ file, line }: Snippet) => `${file}:${line}`;

/** A part of a file is completed: braces around it, and an agent. */
function wholeConfig(code: string): string {
  const part = code.trim();
  const whole = /^(?:\s*\/\/.*\n)*\s*\{/.test(part) ? part : `{${part}}`;
  if ('agent_servers' in parse(whole)) return whole;
  return whole.replace('{', '{ "agent_servers": { "any": { "command": "any" }, "claude": { "command": "claude" } }, ');
}

function problemsOfConfig(file: string, text: string): string[] {
  const document = parseDocument(file, text);
  const wrong = document.problems.length > 0 ? document.problems : [...validate(document), ...check(layerOf(document), document)];
  return wrong.map(renderProblem);
}

test.each(inLanguage('jsonc').map((snippet) => [place(snippet), snippet] as const))(
  'the configuration at %s is valid',
  (where, { code }) => {
    expect(problemsOfConfig(where, wholeConfig(code))).toEqual([]);
  },
);

test('every json block is JSON', () => {
  for (const snippet of inLanguage('json')) expect(() => JSON.parse(snippet.code), place(snippet)).not.toThrow();
});

const POLICY_KEYS = ['version', 'default', 'deny', 'ask', 'allow', 'agents', 'mcp', 'remember', 'limits'];
/** Files of other programs: Prometheus, the OpenTelemetry Collector. */
const FOREIGN_KEYS = ['scrape_configs', 'receivers'];

test.each(inLanguage('yaml').map((snippet) => [place(snippet), snippet] as const))(
  'the yaml at %s is a policy, or cases for one',
  (where, { code }) => {
    const value = parseYaml(code);
    if (Array.isArray(value)) {
      for (const one of value) expect(['allow', 'ask', 'deny']).toContain(one.verdict);
      return;
    }
    const keys = Object.keys(value);
    if (keys.some((key) => FOREIGN_KEYS.includes(key))) return;
    expect(keys.filter((key) => !POLICY_KEYS.includes(key))).toEqual([]);
    const { problems } = loadPolicy(where, keys.includes('version') ? code : `version: 1\n${code}`);
    expect(problems.map((problem) => `${problem.line}: ${problem.message}`)).toEqual([]);
  },
);

const wishes = pages.flatMap((file) => {
  const policies = snippetsOf(file).filter(({ language }) => language === 'yaml');
  return policies.flatMap((cases, index) => {
    const policy = policies[index - 1];
    return cases.code.startsWith('- {') && policy ? [[place(cases), policy.code, cases.code] as const] : [];
  });
});

test('there are cases for the policies', () => expect(wishes.length).toBeGreaterThanOrEqual(5));

test.each(wishes)('the cases at %s hold for the policy above them', async (_, policy, cases) => {
  const home = createHome();
  const { stdout, stderr } = await home.quick(['policy', 'test', home.write('policy.yaml', policy), home.write('cases.yaml', cases)]);
  expect(stderr).toBe('');
  expect(stdout).toContain(' cases as expected');
});

/** The error that the parser reports about the words of a command line. Nothing runs. */
async function usageError(words: readonly string[]): Promise<string | undefined> {
  const divider = words.indexOf('--');
  const mine = divider === -1 ? words : words.slice(0, divider);
  const program = createProgram(words.slice(mine.length + 1), () => {});
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
    command.action(() => {});
    for (const below of command.commands) silence(below);
  };
  const hasAction = new Set<Command>();
  const note = (command: Command): void => {
    if ((command as unknown as { _actionHandler?: unknown })._actionHandler) hasAction.add(command);
    for (const below of command.commands) note(below);
  };
  note(program);
  silence(program);
  const [first = ''] = mine;
  if (!first.startsWith('-') && !program.commands.some((command) => command.name() === first)) return `unknown command "${first}"`;
  const group = program.commands.find((command) => command.name() === first);
  if (group && !hasAction.has(group)) {
    const [, second = ''] = mine;
    if (second !== '' && !second.startsWith('-') && !group.commands.some((command) => command.name() === second))
      return `unknown command "${first} ${second}"`;
  }
  try {
    await program.parseAsync(['node', 'switchboard', ...mine.filter((word) => word !== '--debug')]);
    return undefined;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === 'commander.helpDisplayed' || code === 'commander.version' || code === 'commander.help' ? undefined : message;
  }
}

const START = /^(?:\$ )?(?:[A-Z_]+=\S+ )*switchboard (.+)$/;
const inBlocks = inLanguage('sh', '', 'text').flatMap((snippet) =>
  snippet.code.split('\n').flatMap((line) => {
    const [, rest] = START.exec(line.trim()) ?? / \| switchboard (.+)$/.exec(line) ?? [];
    return rest === undefined ? [] : [[snippet.file, rest] as const];
  }),
);
// A name of a command, or a line with placeholders in capitals. Lines with parts left out are not whole.
const inline = documents.flatMap((file) =>
  [...proseOf(file).matchAll(/`switchboard ([a-z][^`]*)`/g)].flatMap(([, rest = '']) =>
    /[…|]|\[/.test(rest) ? [] : [[file, rest] as const],
  ),
);

test('every command line in a block parses', async () => {
  expect(inBlocks.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const [file, line] of inBlocks) {
    const problem = await usageError(wordsOf(line));
    if (problem !== undefined) wrong.push(`${file}: switchboard ${line}: ${problem}`);
  }
  expect(wrong).toEqual([]);
});

test('every command named in a sentence exists', async () => {
  expect(inline.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const [file, line] of inline) {
    const problem = await usageError(wordsOf(line));
    // `switchboard token create` names the command, not a whole line.
    if (problem !== undefined && !/missing required argument|required option/.test(problem))
      wrong.push(`${file}: switchboard ${line}: ${problem}`);
  }
  expect(wrong).toEqual([]);
});
