// Runs our command as a person or a client does: the built bin in its own process, with a temporary home.
import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { removeDirectory } from '../remove-directory.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const MARK = 'SWITCHBOARD_TEST_MARK';

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Resolves when stdout holds the text. */
  printed(text: string): Promise<void>;
  /** Sends a request and resolves to its answer. */
  request(method: string, params: object): Promise<{ result?: unknown; error?: unknown }>;
};

/** Linux's `script` gives a program a terminal. */
export const HAS_TERMINAL = process.platform === 'linux';

export type Home = ReturnType<typeof createHome>;

export function createHome() {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-cli-'));
  onTestFinished(() => removeDirectory(root));
  const [home, project, tmp] = ['home', 'project', 'tmp'].map((name) => path.join(root, name)) as [string, string, string];
  for (const directory of [home, project, tmp]) mkdirSync(directory);
  const mark = randomUUID();
  const { SWITCHBOARD_CONFIG, SWITCHBOARD_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME, NO_COLOR, ...inherited } = process.env;
  const env: NodeJS.ProcessEnv = { ...inherited, HOME: home, TMPDIR: tmp, [MARK]: mark };

  const start = (args: readonly string[], extra?: NodeJS.ProcessEnv) => launch([process.execPath, BIN, ...args], extra);

  function launch([program = '', ...args]: readonly string[], extra: NodeJS.ProcessEnv = {}): Running {
    const child = spawn(program, args, { cwd: project, env: { ...env, ...extra } });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    let [stdout, stderr] = ['', ''];
    const watchers = new Set<() => void>();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      for (const look of watchers) look();
    });
    const until = <T>(find: () => T | undefined) =>
      new Promise<T>((resolve) => {
        const look = () => {
          const found = find();
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      });
    let nextId = 0;
    return {
      child,
      ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr }))),
      printed: async (text) => void (await until(() => stdout.includes(text) || undefined)),
      request(method, params) {
        const id = nextId++;
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        const isAnswer = (line: string) => {
          const message = line.endsWith('}') ? JSON.parse(line) : {};
          return message.id === id && message.method === undefined;
        };
        return until(() => {
          const line = stdout.split('\n').slice(0, -1).find(isAnswer);
          return line === undefined ? undefined : JSON.parse(line);
        });
      },
    };
  }

  return {
    home,
    project,
    tmp,
    userFile: path.join(home, '.config', 'acp-switchboard', 'config.jsonc'),
    start,
    bin: BIN,
    /** Runs any other program in the same environment. */
    launch,
    /** Runs the command on a terminal: writes to its stdin are keystrokes, and everything on screen is in stdout. */
    startInTerminal(args: readonly string[], extra: NodeJS.ProcessEnv = {}): Running {
      const words = [process.execPath, BIN, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
      // `exec`: a shell that stays in between, as dash does, would also receive Ctrl-C and turn our exit code into 130.
      return launch(['script', '-qefc', `stty cols 120 rows 50; exec ${words.join(' ')}`, '/dev/null'], {
        TERM: 'xterm',
        SHELL: '/bin/sh',
        ...extra,
      });
    },
    /** Runs to completion with an empty stdin. */
    run(args: readonly string[], extra: NodeJS.ProcessEnv = {}): Promise<Ended> {
      const { child, ended } = start(args, extra);
      child.stdin.end();
      return ended;
    },
    /** Runs a short command to completion in a process shared by all tests, because starting Node takes most of its time. Not for `run`, `acp`, `mcp` or `demo`. */
    quick: (args: readonly string[], extra: NodeJS.ProcessEnv = {}): Promise<Ended> => runWarm(args, { ...env, ...extra }, project),
    /** Writes a file below the root; content that is not a string becomes JSON. */
    write(file: string, content: unknown): string {
      const target = path.resolve(project, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return target;
    },
    /** Processes started from this home, directly or not, that still run. Linux only; empty elsewhere. */
    processesLeft(): string[] {
      if (process.platform !== 'linux') return [];
      return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environment(pid).includes(`${MARK}=${mark}`));
    },
  };
}

let warm: ChildProcess | undefined;
afterAll(() => void warm?.kill('SIGKILL'));

/** Runs are serial; a test that needs two at once must start them itself. */
async function runWarm(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Ended> {
  warm ??= fork(path.join(import.meta.dirname, 'warm-command.cjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const child = warm;
  const answer = new Promise<Ended>((resolve, reject) => {
    child.once('message', (ended) => resolve(ended as Ended));
    child.once('exit', (code) => reject(new Error(`the command ended its process with ${code}`)));
  });
  child.send({ args, env, cwd });
  return answer.finally(() => child.removeAllListeners('exit'));
}

function environment(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // exited meanwhile, or not ours
  }
}

/** A client's first request. */
export const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };
