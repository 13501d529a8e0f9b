// The command lines in the blocks of the pages run, in order, in a home that has what the pages speak of. Lines that cannot run here are listed with
// the reason; test/documents/snippets.test.ts parses those, too.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, type Ended, type Home, INITIALIZE } from '../cli/command.ts';
import { frontPages, pages, root, type Snippet, snippetsOf, wordsOf } from './pages.ts';

/** Lines that do not run, by their beginning. */
const NOT_RUN: readonly (readonly [line: RegExp, reason: string])[] = [
  [/^demo\b/, 'takes seconds; test/cli/demo runs it'],
  [/^run -i\b/, 'a conversation needs a terminal'],
  [/^agents (search|update|rollback|add [\w@.-]+$)/, 'the registry is on the network; test/cli/registry has one of its own'],
  [/^(acp|host|serve|bus create|audit collect)\b.*(10\.0\.0\.5|localhost|bus\.json)/, 'on or to another machine'],
  [/^policy bundle publish \S+ --bus/, 'on another machine'],
  [/^serve( --open| --example|$)/, 'goes on until Ctrl-C; test/cli/serve runs it'],
  [/^sessions (attach|queue)\b/, 'needs a running turn of a daemon; test/cli/daemon has one'],
  [/^changes (show|apply|drop) SESSION/, 'needs waiting changes; test/review has some'],
  [/^policy remembered --revoke/, 'needs a remembered answer; test/cli/policy has one'],
];

/** These ask, at a terminal. */
const ASKS = /^(init|connect \w+|disconnect|agents (add|remove))\b/;

/** These start agents, need a stdin of their own or stay: they get a process. The others share one. */
const OWN_PROCESS = /^(run|compare|acp|replay|serve|agents test|doctor)\b/;

type Line = { readonly file: string; readonly words: readonly string[]; readonly isPiped: boolean };

const START = /^(?:[A-Z_]+=\S+ )*switchboard (.+)$/;

function linesOf({ file, code }: Snippet): Line[] {
  return code.split('\n').flatMap((line) => {
    const [, piped] = / \| switchboard (.+)$/.exec(line) ?? [];
    const rest = piped ?? START.exec(line)?.[1] ?? /<\(switchboard ([^)]+)\)/.exec(line)?.[1];
    return rest === undefined ? [] : [{ file, words: wordsOf(rest), isPiped: piped !== undefined }];
  });
}

const lines = [...frontPages, ...pages]
  .flatMap(snippetsOf)
  .filter(({ language }) => language === 'sh')
  .flatMap(linesOf);
const isRun = ({ words }: Line) => !NOT_RUN.some(([line]) => line.test(words.join(' ')));

test('most command lines run, and every exception is needed', () => {
  expect(lines.filter(isRun).length).toBeGreaterThan(50);
  expect(NOT_RUN.filter(([line]) => !lines.some(({ words }) => line.test(words.join(' '))))).toEqual([]);
});

/** The agents that pages name, each a demo agent. */
function writeConfig(home: Home): void {
  const agent = (name: string) => ({
    command: process.execPath,
    args: [path.join(root, 'dist/demo-agent.js'), '--name', name, '--state', path.join(home.home, name)],
    sandbox: 'off',
  });
  const [builder, sketcher] = ['builder', 'sketcher'].map(agent);
  home.write(home.userFile, { agent_servers: { claude: sketcher, codex: builder, gemini: sketcher, builder } });
}

function prepareHome(): Home {
  const home = createHome();
  writeConfig(home);
  const [policy = '', cases = ''] = snippetsOf('docs/policy.md').flatMap(({ language, code }) => (language === 'yaml' ? [code] : []));
  for (const name of ['policy.yaml', 'new.yaml', 'old.yaml', 'company.yaml']) home.write(name, policy);
  home.write('cases.yaml', cases);
  const recording = readFileSync(path.join(root, 'test/recordings/codex.ndjson'), 'utf8');
  for (const name of ['session.ndjson', 'made-elsewhere.jsonl']) home.write(name, recording);
  mkdirSync(path.join(home.project, 'src'));
  home.write('token.txt', 'swb_0123456789');
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: home.project });
  git('init', '-q');
  git('add', 'policy.yaml');
  git('commit', '-qm', 'one');
  return home;
}

/** What these pages show: a session to find, and a decision in the audit log. */
const HAS_RECORDS = ['docs/commands.md', 'docs/getting-started.md', 'docs/policy.md', 'docs/records.md'];

async function makeRecords(home: Home): Promise<void> {
  const { code } = await home.run(['run', '-a', 'builder', '--policy', 'standard', '--write', '--approve', 'all', '/edit flaky test']);
  expect(code).toBe(0);
}

/** Runs a line to its end: without a terminal, and without the options that make it go on. */
function run(home: Home, { words, isPiped }: Line): Promise<Ended> {
  const line = words.join(' ');
  const ends = words.filter((word) => word !== '--follow' && word !== '-f').map((word) => (word === 'ID' ? lastSession(home) : word));
  const divider = ends.includes('--') ? ends.indexOf('--') : ends.length;
  const isAsking = ASKS.test(line) && !ends.includes('--dry-run') && !ends.includes('--yes');
  const args = isAsking ? [...ends.slice(0, divider), '--yes', ...ends.slice(divider)] : ends;
  if (!OWN_PROCESS.test(line)) return home.quick(args);
  const { child, ended } = home.start(args);
  if (isPiped) child.stdin.write('some text');
  if (words[0] === 'acp') child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE })}\n`);
  child.stdin.end();
  return ended;
}

function lastSession(home: Home): string {
  const index = readFileSync(path.join(home.home, '.local/state/acp-switchboard/transcripts/index.jsonl'), 'utf8');
  return JSON.parse(index.trimEnd().split('\n').at(-1) ?? '').sessionId;
}

const pagesWithLines = [...new Set(lines.filter(isRun).map(({ file }) => file))];

test.each(pagesWithLines)('the command lines of %s run', async (page) => {
  const home = prepareHome();
  if (HAS_RECORDS.includes(page)) await makeRecords(home);
  const failed: string[] = [];
  for (const line of lines.filter((one) => one.file === page && isRun(one))) {
    const { code, stderr } = await run(home, line);
    const isFine = code === 0 || (code === 4 && line.words.join(' ') === 'serve status'); // installed as a service, it would run
    if (!isFine) failed.push(`switchboard ${line.words.join(' ')}: ${code}: ${stderr}`);
  }
  expect(failed).toEqual([]);
});

const examples = pages.flatMap(snippetsOf).flatMap(({ file, code }) => {
  const [first = '', ...output] = code.trimEnd().split('\n');
  return first.startsWith('$ switchboard ') ? [[file, wordsOf(first.slice('$ switchboard '.length)), output] as const] : [];
});

test.each(examples)('the output shown in %s is what the command prints', async (_, words, output) => {
  const { stdout } = await createHome().quick(words);
  // An ellipsis stands for the rest of a line, or for lines.
  const parts = output.map((line) => line.replace(/\s*…$/, '')).filter((line) => line !== '');
  let from = 0;
  for (const part of parts) {
    const at = stdout.indexOf(part, from);
    expect(at, `${part}\nin\n${stdout.slice(from)}`).toBeGreaterThanOrEqual(0);
    from = at + part.length;
  }
  expect(parts.length).toBeGreaterThan(0);
});

test('there is no kind of block that no test knows', () => {
  const isKnown = ({ file, language, code }: Snippet): boolean => {
    if (['jsonc', 'json', 'yaml', 'sh', 'mermaid'].includes(language)) return true;
    if (language === 'ts' || language === 'text') return file === 'docs/embedding.md'; // test/app/package.test.ts
    if (language === 'js') return ['docs/tools.md', 'docs/web-app.md'].includes(file); // test/mcp/examples.test.ts, test/web-app/connect.test.ts
    return language === '' && (code.startsWith('$ switchboard ') || !/^(?:\$ )?switchboard /m.test(code)); // output, or a drawing
  };
  const all = [...frontPages, ...pages].flatMap(snippetsOf);
  expect(all.filter((snippet) => !isKnown(snippet)).map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});
