// `npm run package:try [VERSION...]`: packs the program, installs the tarball globally for each version of Node, and uses it as a new user does:
// the tour, a turn, the frames of a turn, the completion script, then a new user's first hour (new-user.mjs). `npm install node@VERSION` brings the
// binaries. An old Node must say what it needs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { walk } from './new-user.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const VERSIONS = ['20', '20.19.0', '22', '24', '26'];
const TOO_OLD = ['18', '20.10.0'];
const given = process.argv.slice(2);
const isTooOld = (version) => TOO_OLD.includes(version);

// Not in the temporary directory, which is empty in the sandbox that `doctor` tries.
const isTemporary = root.startsWith(`${os.tmpdir()}${path.sep}`);
const cache = isTemporary ? path.join(os.homedir(), '.cache', 'acp-switchboard') : path.join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(path.join(cache, 'try-'));
let failures = 0;

function run(command, args, { env = {}, ...options } = {}) {
  return spawnSync(command, args, { encoding: 'utf8', timeout: 180_000, cwd: scratch, ...options, env: { ...process.env, ...env } });
}
function must(what, { status, signal, stdout, stderr, error }) {
  if (status === 0) return stdout;
  throw new Error(`${what} failed (${error?.message ?? signal ?? `code ${status}`})\n${stdout}${stderr}`);
}

/** The same without blocking this process, which serves the registry meanwhile. */
async function runBeside(command, args, { env, cwd = scratch } = {}) {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  const [status, signal] = await once(child, 'close');
  return must([path.basename(command), ...args].join(' '), { status, signal, ...output });
}

async function attempt(version, tarball) {
  const dir = path.join(scratch, version);
  const [home, project, prefix] = ['home', 'project', 'prefix'].map((name) => path.join(dir, name));
  for (const one of [home, project, prefix]) mkdirSync(one, { recursive: true });
  must(`npm install node@${version}`, run('npm', ['install', '--no-save', '--prefix', dir, '--no-audit', '--no-fund', `node@${version}`]));
  const node = path.join(dir, 'node_modules', 'node', 'bin', 'node');
  must('npm install --global', run('npm', ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball]));
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: '',
    XDG_STATE_HOME: '',
    SWITCHBOARD_HOME: '',
    PATH: `${path.dirname(node)}:${process.env.PATH}`,
  };
  const switchboard = (...words) => run(path.join(prefix, 'bin', 'switchboard'), words, { env, cwd: project, input: '' });
  if (isTooOld(version)) {
    const { status, stderr } = switchboard('doctor');
    if (status !== 1 || !stderr.includes('switchboard needs Node 20.19') || /^ {4}at /m.test(stderr))
      throw new Error(`an old Node says: ${stderr}`);
    return stderr.split('\n')[0];
  }
  must('switchboard demo', switchboard('demo', '--fast'));
  const answer = must('switchboard run', switchboard('run', '-o', 'simple', 'hello'));
  if (!answer.includes('You said: "hello"')) throw new Error(`the turn says: ${answer}`);
  const frames = must('switchboard run -j', switchboard('run', '-j', 'hello'));
  if (!frames.includes('"stopReason":"end_turn"')) throw new Error(`the frames have no end: ${frames.slice(-500)}`);
  must('switchboard completion', switchboard('completion', 'bash'));
  must('switchboard doctor', switchboard('doctor', '--no-start'));
  const [newHome, newProject] = ['new-home', 'new-project'].map((name) => path.join(dir, name));
  for (const one of [newHome, newProject]) mkdirSync(one);
  const command = path.join(prefix, 'bin', 'switchboard');
  await walk({
    run: (name, words, options) => runBeside(name === 'switchboard' ? command : name, words, options),
    env: { ...process.env, ...env, HOME: newHome },
    ...{ home: newHome, project: newProject, scratch: dir },
  });
  return must('node --version', run(node, ['--version'])).trim();
}

try {
  const packed = JSON.parse(
    must('npm pack', run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], { cwd: root })),
  );
  const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed);
  for (const version of given.length > 0 ? given : [...VERSIONS, ...TOO_OLD])
    try {
      console.log(`ok   Node ${version}: ${await attempt(version, path.join(scratch, filename))}`);
    } catch (error) {
      failures++;
      console.log(`FAIL Node ${version}: ${error.message}`);
    }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
