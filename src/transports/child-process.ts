// An agent as a child process: started without a shell, in its own process group, with stderr kept apart.
import type { ChildProcess } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { here } from '../platform/platform.ts';
import { type ProcessTree, stopProcess, treeOf } from '../processes/process-tree.ts';
import { spawn } from '../processes/spawn.ts';
import { TOO_MANY_FILES, type Unstartable, whyUnstartable } from './start-error.ts';
import { type Cleaner, createStderrTail } from './stderr-tail.ts';
import { onceExited, type Transport } from './transport.ts';

/** A program to start. */
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Where the user configured it, for messages: `agent_servers.claude`. */
  readonly configKey: string;
};

export type ChildOptions = {
  /** Between end of input, TERM and KILL. */
  readonly graceMs: number;
  /** Redacts the lines of stderr that are kept. */
  readonly clean?: Cleaner | undefined;
  /** Gets every line of stderr, unredacted. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** For a command that runs in a sandbox. */
  readonly sandbox?: SandboxedChild | undefined;
};

/** What a sandbox needs besides its arguments. */
export type SandboxedChild = {
  /** Descriptors from 3 on. */
  readonly stdio: readonly (number | 'pipe')[];
  /** Signals that are meant for the command must not end the sandbox around it. */
  tree(child: ChildProcess): ProcessTree;
  /** The process exists, or could not be started. */
  started(child: ChildProcess | undefined): void;
};

/** A grandchild may hold stdout open long after the agent exits; the agent's own output arrives well within this time. */
const DRAIN_MS = 250;

export type ChildTransport = Transport & { readonly fromAgent: Readable; readonly toAgent: Writable };

export function startChildProcess(command: Command, { graceMs, clean, onStderrLine, sandbox }: ChildOptions): ChildTransport {
  let child: ChildProcess;
  try {
    child = spawn(command.command, [...command.args], {
      stdio: ['pipe', 'pipe', 'pipe', ...(sandbox?.stdio ?? [])],
      env: command.env,
      ...(command.cwd !== undefined && { cwd: command.cwd }),
      detached: here.hasProcessGroups, // its own group, so that wrappers such as npx end with their children
      windowsHide: true,
    });
  } catch (error) {
    sandbox?.started(undefined);
    return unstartable(whyUnstartable(error as NodeJS.ErrnoException, command));
  }
  sandbox?.started(child);
  const { stdin, stdout, stderr, pid } = child;
  // Out of descriptors (EMFILE) there are no streams, and the error event follows.
  if (!stdin || !stdout || !stderr) {
    child.on('error', () => {});
    return unstartable(TOO_MANY_FILES);
  }
  const tail = createStderrTail(stderr, clean, onStderrLine);
  // Streams may fail while nobody listens for errors; an unhandled one would end this process.
  stdin.on('error', () => {});
  stdout.on('error', () => {});

  const exit = onceExited();
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) exit.happened({ kind: 'unstartable', ...whyUnstartable(error, command) });
  });
  child.on('exit', (code, signal) => {
    tail.exited();
    const over = () => exit.happened({ kind: 'exited', code, signal });
    let timer: NodeJS.Timeout | undefined;
    // While reading is paused, the agent's output waits, and its exit must not overtake that output.
    const unlessPaused = (act: () => void) => void (stdout.isPaused() ? stdout.once('resume', drain) : act());
    const drain = () =>
      unlessPaused(() => {
        // If this process was blocked, output that is already there is read first.
        timer = setTimeout(() => setImmediate(unlessPaused, over), DRAIN_MS);
      });
    drain();
    child.once('close', () => {
      clearTimeout(timer);
      over();
    });
  });
  const tree = sandbox?.tree(child) ?? treeOf(child);
  return {
    fromAgent: stdout,
    toAgent: stdin,
    pid,
    stderrTail: tail.lines,
    onExit: exit.listen,
    stop: () => stopProcess(tree, () => stdin.end(), graceMs),
    kill: () => tree.end('kill'),
  };
}

/** The transport of a process that could not be started: reports that as its exit. */
export function unstartable(why: Unstartable): ChildTransport {
  return {
    fromAgent: new PassThrough(),
    toAgent: new PassThrough().resume(),
    pid: undefined,
    stderrTail: () => [],
    onExit: (listener) => void setImmediate(listener, { kind: 'unstartable', ...why }),
    stop: async () => {},
    kill: () => {},
  };
}
