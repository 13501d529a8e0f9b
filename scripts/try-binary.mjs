// `npm run package:binary:try`: uses release/switchboard as a user does, in a bare root (chroot) with the C library and nothing else: the tour, a
// turn, the daemon with its page, MCP, the shim. Then compares its start with that of the npm package. Needs Linux and root.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const project = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const executable = path.join(project, 'release', 'switchboard');
const SLOWER_AT_MOST = 1.5;
const STARTS = 15;
const LIMIT_MS = 60_000;
const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n';

const root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-root-'));
const env = { HOME: '/home', PATH: '/bin', TERM: 'dumb' };
const inRoot = (...words) => ['/usr/sbin/chroot', [root, '/switchboard', ...words]];

function run(...words) {
  const { status, stdout, stderr, error } = spawnSync(...inRoot(...words), { env, encoding: 'utf8', input: '', timeout: LIMIT_MS });
  if (status !== 0) throw new Error(`switchboard ${words.join(' ')}: ${error?.message ?? `code ${status}`}\n${stdout}${stderr}`);
  return stdout;
}

function expect(what, holds, text = '') {
  if (!holds) throw new Error(`${what}: ${text.slice(-800)}`);
  console.log(`ok   ${what}`);
}

/** Starts a program, sends it the input, and resolves to the first line of its output. */
async function firstLine([command, args, options = {}], input, use = async () => {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], ...options });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    if (input !== undefined) child.stdin.write(input);
    for await (const line of readline.createInterface({ input: child.stdout })) {
      await use(line);
      return line;
    }
    throw new Error(`${command} ${args.join(' ')} ended without an answer`);
  } finally {
    child.stdin.end();
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }
}

function makeRoot() {
  for (const folder of ['home', 'tmp', 'dev', 'proc', 'bin']) mkdirSync(path.join(root, folder));
  copyFileSync(executable, path.join(root, 'switchboard'));
  // The libraries that Node itself is linked with.
  for (const [library] of execFileSync('ldd', [executable], { encoding: 'utf8' }).matchAll(/\/\S+/g)) {
    mkdirSync(path.join(root, path.dirname(library)), { recursive: true });
    cpSync(library, path.join(root, library), { dereference: true });
  }
  for (const [name, minor] of [
    ['null', '3'],
    ['urandom', '9'],
  ])
    execFileSync('mknod', ['-m', '666', path.join(root, 'dev', name), 'c', '1', minor]);
}

async function inBareRoot() {
  makeRoot();
  expect('switchboard --version', /^\d+\.\d+\.\d+/.test(run('--version')));
  expect('switchboard demo', run('demo', '--fast').includes('Next steps'));
  expect('switchboard run', run('run', '-o', 'simple', 'hello').includes('You said: "hello"'));
  const options = { env };
  const answer = await firstLine([...inRoot('acp'), options], INITIALIZE);
  expect('switchboard acp', JSON.parse(answer).result?.protocolVersion === 1, answer);
  const tools = await firstLine(
    [...inRoot('mcp'), options],
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"try","version":"1"}}}\n',
  );
  expect('switchboard mcp', JSON.parse(tools).result?.serverInfo !== undefined, tools);
  await firstLine([...inRoot('serve', '--json'), options], undefined, async (line) => {
    const address = new URL(JSON.parse(line).listening);
    const page = await (await fetch(address)).text();
    expect('switchboard serve, with the page inside', /<script[^>]+page\.js/.test(page), page);
  });
  const evaluated = run('-e', 'console.log(process.argv.length)');
  expect('a few lines of code', evaluated.trim() === '1', evaluated);
  const shim = spawnSync(...inRoot('mcp-shim'), { env, encoding: 'utf8', timeout: LIMIT_MS });
  expect('switchboard mcp-shim', shim.stderr.includes('SWITCHBOARD_MCP_SOCKET'), shim.stderr);
}

/** Milliseconds from the start to the answer of `initialize`: the median. The two forms take turns, so that both see the same load. */
async function compareStarts() {
  const home = path.join(root, 'measure');
  mkdirSync(home);
  const options = { env: { ...process.env, SWITCHBOARD_HOME: home } };
  const forms = {
    npm: [process.execPath, [path.join(project, 'bin', 'switchboard.js'), 'acp'], options],
    binary: [executable, ['acp'], options],
  };
  const times = { npm: [], binary: [] };
  for (let start = 0; start <= STARTS; start++)
    for (const [name, form] of Object.entries(forms)) {
      const before = performance.now();
      let took = 0;
      await firstLine(form, INITIALIZE, async () => {
        took = performance.now() - before;
      });
      if (start > 0) times[name].push(took);
    }
  const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const [npm, binary] = [median(times.npm), median(times.binary)];
  expect(
    `start to the first answer: ${binary.toFixed(0)} ms, npm ${npm.toFixed(0)} ms (${(binary / npm).toFixed(2)}x, at most ${SLOWER_AT_MOST}x)`,
    binary <= npm * SLOWER_AT_MOST,
    `${binary.toFixed(0)} ms, npm ${npm.toFixed(0)} ms`,
  );
}

try {
  if (!existsSync(executable)) throw new Error(`${executable} is missing: npm run package:binary`);
  await inBareRoot();
  await compareStarts();
} catch (error) {
  console.error(`FAIL ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
