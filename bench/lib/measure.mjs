// One run: a new proxy between a new load client and new agents.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

const TIMEOUT_MS = 120_000;
const LARGE_BYTES = 1024 * 1024;

export class RunFailure extends Error {}

/** Runs `steps` against a variant; resolves to the client's result for each step. `home` keeps state over several runs. */
export async function run({ load, variant, agents = 1, steps, workDir, home }) {
  const dir = mkdtempSync(path.join(workDir, 'run-'));
  const state = home ?? path.join(dir, 'home');
  mkdirSync(state, { recursive: true });
  const agentCommands = Array.from({ length: agents }, (_, index) => [...load.command, 'agent', `a${index}`]);
  const [program, ...args] = [...load.command, 'client', ...steps, '--', ...variant.command(agentCommands, dir)];
  // With NODE_EXTRA_CA_CERTS, Node 20 reads certificates at start, which would make every ratio of start-up times smaller.
  const { NODE_EXTRA_CA_CERTS, ...env } = process.env;
  try {
    return await play(program, args, { ...env, SWITCHBOARD_HOME: state, LOAD_TIMEOUT_MS: String(TIMEOUT_MS) });
  } finally {
    dropLarge(dir);
  }
}

/**
 * Deletes large files at once and keeps small ones until the end: when ext4 without a journal creates a file, it skips every inode that
 * was deleted in the last minutes, and the transcripts of the next run would pay for that.
 */
function dropLarge(dir) {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (entry.isFile() && size > LARGE_BYTES) rmSync(file, { force: true });
  }
}

function play(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => child.kill();
    process.once('exit', end); // if we are interrupted
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err = `${err}${text}`.slice(-4000);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      process.removeListener('exit', end);
      try {
        const results = out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        const problem = results.find((result) => result.error !== undefined)?.error;
        if (code !== 0 || problem !== undefined) reject(new RunFailure(`${problem ?? `exit code ${code}`}\n${err}`.trim()));
        else resolve(results);
      } catch {
        reject(new RunFailure(`no figures (exit code ${code})\n${err}`.trim()));
      }
    });
  });
}
