// One command in a terminal: a process tree without a shell and without a screen. Keeps the output and reports the exit.
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { failure, type ProxyError } from '../errors.ts';
import { here } from '../platform/platform.ts';
import { endTree, type ProcessTree, treeOf } from '../processes/process-tree.ts';
import { MARK, spawn, startFailure } from '../processes/spawn.ts';
import { createOutput } from './terminal-output.ts';

export type ExitStatus = { readonly exitCode: number | null; readonly signal: string | null };

export type Terminal = {
  readonly pid: number;
  output(): { readonly output: string; readonly truncated: boolean; readonly exitStatus?: ExitStatus };
  /** Resolves when the command has exited and its output has been read. */
  readonly exited: Promise<ExitStatus>;
  /** TERM, then KILL to everything it started; resolves when nothing is left. */
  end(): Promise<void>;
  /** KILL at once. */
  kill(): void;
};

export type Command = {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly outputBytes: number;
  readonly graceMs: number;
  readonly mark: string;
  /** For a command in a sandbox. */
  readonly sandbox?: SandboxedCommand['sandbox'] | undefined;
  /** Gets the output as it comes, and then the exit. */
  readonly heard?: ((news: TerminalNews) => void) | undefined;
};

export type TerminalNews = { readonly stream: 'stdout' | 'stderr'; readonly text: string } | { readonly exitStatus: ExitStatus };

/** The command that starts another one in a sandbox. */
export type SandboxedCommand = {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly sandbox: {
    /** Descriptors from 3 on. */
    readonly stdio: readonly (number | 'pipe')[];
    tree(child: ChildProcess): ProcessTree;
    started(child: ChildProcess | undefined): void;
  };
};

/** `why`: there is no sandbox, and the command must not run without one. */
export type ContainCommand = (argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string) => SandboxedCommand | { readonly why: string };

/** A background process may hold the output open forever; the command's own output arrives within this time. */
const DRAIN_MS = 250;

/** The process exists when this returns, so `cwd` need not last longer. */
export function startTerminal({ argv, env, cwd, outputBytes, graceMs, mark, sandbox, heard }: Command): Promise<Terminal> {
  const [command = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = spawn(command, args, {
        stdio: ['ignore', 'pipe', 'pipe', ...(sandbox?.stdio ?? [])],
        env: { ...env, [MARK]: mark },
        cwd,
        detached: here.hasProcessGroups, // a group of its own, so that everything it started can be stopped
        windowsHide: true,
      });
    } catch (error) {
      sandbox?.started(undefined);
      return reject(unstartable(error as NodeJS.ErrnoException, command, env));
    }
    sandbox?.started(child);
    child.once('error', (error) => reject(unstartable(error, command, env)));
    const { pid, stdout, stderr } = child;
    if (pid === undefined || !stdout || !stderr) return; // the error event follows

    const output = createOutput(outputBytes);
    for (const stream of [stdout, stderr]) {
      const into = output.stream();
      stream.on('data', into.take);
      stream.on('end', into.end);
      stream.on('error', () => {});
      if (heard) readText(stream, stream === stdout ? 'stdout' : 'stderr', heard);
    }
    let exitStatus: ExitStatus | undefined;
    const exited = untilExited(child).then((status) => {
      exitStatus = status;
      heard?.({ exitStatus: status });
      return status;
    });
    const tree = onlyOnce(sandbox?.tree(child) ?? treeOf(child), exited);
    let ending: Promise<void> | undefined;
    resolve({
      pid,
      exited,
      output: () => ({ output: output.text(), truncated: output.isTruncated, ...(exitStatus && { exitStatus }) }),
      end() {
        // The exit status must be known to the next caller; a process that survives KILL is not awaited.
        ending ??= endTree(tree, graceMs)
          .then(() => Promise.race([exited, delay(2 * DRAIN_MS, undefined, { ref: false })]))
          .then(() => {});
        return ending;
      },
      kill: () => tree.end('kill'),
    });
  });
}

/** A character may arrive in parts. */
function readText(from: Readable, stream: 'stdout' | 'stderr', heard: (news: TerminalNews) => void): void {
  const decoder = new StringDecoder('utf8');
  const say = (text: string) => void (text === '' || heard({ stream, text }));
  from.on('data', (chunk: Buffer) => say(decoder.write(chunk)));
  from.on('end', () => say(decoder.end()));
}

function untilExited(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => {
      const over = () => resolve({ exitCode, signal });
      const timer = setTimeout(over, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(timer);
        over();
      });
    });
  });
}

/** An empty group stays empty, and its id may be reused: never signal it again. */
function onlyOnce(tree: ProcessTree, exited: Promise<ExitStatus>): ProcessTree {
  let isOver = false;
  let isGone = false;
  const isAlive = () => {
    const alive = !isGone && tree.isAlive();
    isGone = isOver && !alive;
    return alive;
  };
  void exited.then(() => {
    isOver = true;
    isAlive();
  });
  return { isAlive, end: (how) => (isGone ? undefined : tree.end(how)) };
}

function unstartable(error: NodeJS.ErrnoException, command: string, env: NodeJS.ProcessEnv): ProxyError {
  const code = startFailure(error, command, env);
  return failure('TERMINAL_UNSTARTABLE', [WHY[code ?? ''] ?? code ?? 'an unknown error']);
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'the command was not found. There is no shell here: the program belongs in command, its arguments in args',
  EACCES: 'the command is not executable',
  E2BIG: 'command, args and env are too long',
  EAGAIN: 'the system cannot start another process now; release terminals and try again',
  ENOMEM: 'the system cannot start another process now; release terminals and try again',
  EMFILE: 'too many files are open; release terminals and try again',
};
