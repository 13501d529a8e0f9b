// One agent as a child process: started without a shell, in a process group of its own, its stderr kept apart.
import type { ChildProcess } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { stopProcess, treeOf } from '../processes/process-tree.ts';
import { MARK, spawn } from '../processes/spawn.ts';
import type { AgentSpec } from './defaults.ts';
import { DEPTH, depthOf, isOurProxy } from './recursion.ts';
import { TOO_MANY_FILES, type Unstartable, whyUnstartable } from './start-error.ts';
import { type Cleaner, createStderrTail } from './stderr-tail.ts';

/** How an agent ended: by itself, or because it never began. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | ({ readonly kind: 'unstartable' } & Unstartable);

export type AgentProcess = {
  /** What the agent says, and what it is told. */
  readonly fromAgent: Readable;
  readonly toAgent: Writable;
  readonly pid: number | undefined;
  stderrTail(): readonly string[];
  onExit(listener: (exit: Exit) => void): void;
  /** EOF, then TERM, then KILL to the whole tree, each after its grace. */
  stop(): Promise<void>;
  /** The whole tree, at once. */
  kill(): void;
};

/** A grandchild may hold stdout open long after the agent is gone; what the agent itself wrote arrives well within this time. */
const DRAIN_MS = 250;

/** `heard` gets every line of its stderr, as it is. */
export function startAgentProcess(spec: AgentSpec, mark: string, clean?: Cleaner, heard?: (line: string) => void): AgentProcess {
  if (isOurProxy(spec.command, spec.args))
    return stillborn({ why: 'it is the switchboard itself', next: `Take "${spec.name}" out of agent_servers` });
  let child: ChildProcess;
  try {
    child = spawn(spec.command, [...spec.args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...spec.env, [MARK]: mark, [DEPTH]: String(depthOf(process.env) + 1) },
      ...(spec.cwd !== undefined && { cwd: spec.cwd }),
      detached: process.platform !== 'win32', // a group of its own, so that wrappers such as npx end with what they wrap
      windowsHide: true,
    });
  } catch (error) {
    return stillborn(whyUnstartable(error as NodeJS.ErrnoException, spec));
  }
  const { stdin, stdout, stderr, pid } = child;
  // Out of descriptors (EMFILE) there are no streams at all, and the error event is still to come.
  if (!stdin || !stdout || !stderr) {
    child.on('error', () => {});
    return stillborn(TOO_MANY_FILES);
  }
  const tail = createStderrTail(stderr, clean, heard);
  // Writes may fail at any time, with whoever reads the frames looking elsewhere; an unheard error would end the process.
  stdin.on('error', () => {});
  stdout.on('error', () => {});

  const exit = onceExited();
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) exit.happened({ kind: 'unstartable', ...whyUnstartable(error, spec) });
  });
  child.on('exit', (code, signal) => {
    const over = () => exit.happened({ kind: 'exited', code, signal });
    let timer: NodeJS.Timeout | undefined;
    // While nobody reads, what the agent has said waits; its end must not overtake it.
    const unlessPaused = (act: () => void) => void (stdout.isPaused() ? stdout.once('resume', drain) : act());
    const drain = () =>
      unlessPaused(() => {
        // Where we were held up ourselves, what is there to be read is read first.
        timer = setTimeout(() => setImmediate(unlessPaused, over), DRAIN_MS);
      });
    drain();
    child.once('close', () => {
      clearTimeout(timer);
      over();
    });
  });
  const tree = treeOf(child);
  return {
    fromAgent: stdout,
    toAgent: stdin,
    pid,
    stderrTail: tail.lines,
    onExit: exit.listen,
    stop: () => stopProcess(tree, () => stdin.end(), spec.timeouts.stopGraceMs),
    kill: () => tree.end('kill'),
  };
}

function onceExited(): { happened(exit: Exit): void; listen(listener: (exit: Exit) => void): void } {
  let exit: Exit | undefined;
  const listeners: ((exit: Exit) => void)[] = [];
  return {
    happened(how) {
      if (exit) return;
      exit = how;
      for (const listener of listeners) listener(how);
    },
    listen: (listener) => void (exit ? listener(exit) : listeners.push(listener)),
  };
}

/** A process that there is not; whoever started it hears so in the same way as of any other end. */
function stillborn(why: Unstartable): AgentProcess {
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
