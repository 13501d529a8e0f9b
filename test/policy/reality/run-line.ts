// Runs one command under strace, inside the sandbox.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { canonicalPath } from '../../../src/workspace/canonical.ts';
import { ENVIRONMENT_CANARY, HOME, PROJECT } from './template.ts';
import { type Observed, readTrace } from './trace.ts';

export type Ran = { readonly status: number | undefined; readonly output: string; readonly observed: readonly Observed[] };

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME,
  PWD: PROJECT,
  USER: 'user',
  LOGNAME: 'user',
  LANG: 'C.UTF-8',
  TERM: 'xterm',
  CANARY: ENVIRONMENT_CANARY,
};
const TRACE = '/harness-tmp/trace';
const LIMIT_MS = 2500;
const MAX_OUTPUT = 20_000;
const CALLS = 'trace=%file,%network,%process,getdents64,fchmod,fchown,ftruncate,fsetxattr,fchdir';

export async function runLine(
  argv: readonly string[],
  { stdin, isTerminal }: { stdin: string | undefined; isTerminal: boolean },
): Promise<Ran> {
  rmSync(TRACE, { force: true });
  const traced = ['strace', '-f', '-y', '-s', '4096', '-qq', '--seccomp-bpf', '-o', TRACE, '-e', CALLS, '-e', 'signal=none', '--', ...argv];
  const [program, ...words] = isTerminal ? ['script', '-qec', traced.map(quoted).join(' '), '/dev/null'] : traced;
  const child = spawn(program as string, words, {
    cwd: PROJECT,
    env: ENVIRONMENT,
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    if (output.length < MAX_OUTPUT) output += chunk.toString('latin1');
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', collect);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  const status = await new Promise<number | undefined>((resolve) => {
    const send = (signal: NodeJS.Signals) => () => {
      try {
        process.kill(-(child.pid as number), signal);
      } catch {} // gone
    };
    // First the signal at which programs remove their locks and temporary files: those of a killed one would look like its effects.
    const timers = [setTimeout(send('SIGTERM'), LIMIT_MS), setTimeout(send('SIGKILL'), 2 * LIMIT_MS)];
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => {
      for (const timer of timers) clearTimeout(timer);
      resolve(code ?? undefined);
    });
  });
  return { status, output, observed: readTrace(traceText(), { cwd: PROJECT, resolve: resolved }) };
}

export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function traceText(): string {
  try {
    return readFileSync(TRACE, 'latin1');
  } catch {
    return '';
  }
}

function resolved(file: string): string {
  try {
    return canonicalPath(file);
  } catch {
    return file;
  }
}
