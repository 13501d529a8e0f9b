// The terminals of all sessions: each belongs to one and ends with it.
import { randomUUID } from 'node:crypto';
import { failure } from '../errors.ts';
import type { Descriptors } from './descriptors.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';
import { type ContainCommand, type ExitStatus, startTerminal, type Terminal, type TerminalNews } from './terminal.ts';
import { argvOf, readTerminalParams } from './terminal-params.ts';

const CREATE = 'terminal/create';
/** Per session; the same limit as for a client's terminals. */
const MAX_TERMINALS = 64;

type Params = Readonly<Record<string, unknown>>;

export type TerminalsOptions = {
  /** Identifies our processes. */
  readonly mark: string;
  /** Reports a started process, so that the next start can stop it if this one crashes. */
  readonly onChild: (pid: number) => void;
  /** What terminals inherit: not the secrets of agents. */
  readonly environment: () => NodeJS.ProcessEnv;
  /** Gets the output and the exit of every terminal as they come. */
  readonly heard?: ((terminalId: string, news: TerminalNews) => void) | undefined;
};

/** `owner` identifies the session. */
export type Terminals = {
  create(owner: object, roots: Roots, params: Params, graceMs: number, contain?: ContainCommand): Promise<{ readonly terminalId: string }>;
  has(owner: object, terminalId: string): boolean;
  output(owner: object, params: Params): ReturnType<Terminal['output']>;
  waitForExit(owner: object, params: Params): Promise<ExitStatus>;
  /** Stops the command; its output stays available. */
  kill(owner: object, params: Params): Promise<Record<string, never>>;
  release(owner: object, params: Params): Record<string, never>;
  /** The session ended, or its agent did. */
  endOf(owner: object): void;
  /** Resolves when all processes have exited. */
  stop(): Promise<void>;
  /** KILL to all. */
  killAll(): void;
};

type Owned = { readonly terminals: Map<string, Terminal>; starting: number; isOver: boolean };

export function createTerminals(descriptors: Descriptors, { mark, onChild, environment, heard }: TerminalsOptions): Terminals {
  const owners = new Map<object, Owned>();
  /** Released, but still running. */
  const leaving = new Map<Terminal, Promise<void>>();
  const startings = new Set<Promise<Terminal>>();
  let isStopping = false;

  function ownedBy(owner: object): Owned {
    const owned = owners.get(owner) ?? { terminals: new Map(), starting: 0, isOver: false };
    owners.set(owner, owned);
    return owned;
  }
  function find(owner: object, { terminalId }: Params): Terminal {
    const terminal = owners.get(owner)?.terminals.get(String(terminalId));
    if (!terminal) throw failure('TERMINAL_FOREIGN', [String(terminalId)]);
    return terminal;
  }
  function letGo(terminal: Terminal): void {
    const stopped = terminal.end().finally(() => leaving.delete(terminal));
    leaving.set(terminal, stopped);
  }
  function endOf(owner: object): void {
    const owned = owners.get(owner);
    if (!owned) return;
    owned.isOver = true;
    owners.delete(owner);
    for (const terminal of owned.terminals.values()) letGo(terminal);
  }
  async function start(
    terminalId: string,
    roots: Roots,
    params: Params,
    graceMs: number,
    contain: ContainCommand | undefined,
  ): Promise<Terminal> {
    const { command, args, env, cwd, outputBytes } = readTerminalParams(params);
    const real = await resolveInside(CREATE, cwd ?? roots.real[0], roots);
    const argv = argvOf(command, args);
    if (!argv) throw failure('PARAMS', [CREATE, 'command needs a shell, and there is none here: send command "sh" with args ["-c", LINE]']);
    const directory = await descriptors.openDirectory(real, holdTo(roots, undefined)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === undefined ? error : failure('TERMINAL_UNSTARTABLE', [`its cwd cannot be used (${error.code})`]);
    });
    try {
      // Through the descriptor: the path could be another directory by now.
      const at = { cwd: directory.at('.'), env: { ...environment(), PWD: real, ...env } };
      const contained = contain?.(argv, at.env, real);
      if (contained && 'why' in contained) throw failure('TERMINAL_UNSTARTABLE', [contained.why]);
      const hears = heard && ((news: TerminalNews) => heard(terminalId, news));
      return await startTerminal({ argv, ...at, ...contained, outputBytes, graceMs, mark, heard: hears });
    } finally {
      await directory.close();
    }
  }

  return {
    async create(owner, roots, params, graceMs, contain) {
      if (isStopping) throw failure('SHUTTING_DOWN', []);
      const owned = ownedBy(owner);
      if (owned.terminals.size + owned.starting >= MAX_TERMINALS) throw failure('TOO_MANY_OPEN', ['terminals', MAX_TERMINALS]);
      owned.starting++;
      try {
        const terminalId = `terminal-${randomUUID()}`;
        const starting = start(terminalId, roots, params, graceMs, contain);
        startings.add(starting);
        const terminal = await starting.finally(() => startings.delete(starting));
        onChild(terminal.pid);
        if (owned.isOver) {
          letGo(terminal);
          throw failure('CANCELLED', [CREATE]);
        }
        owned.terminals.set(terminalId, terminal);
        return { terminalId };
      } finally {
        owned.starting--;
      }
    },
    has: (owner, terminalId) => owners.get(owner)?.terminals.has(terminalId) === true,
    output: (owner, params) => find(owner, params).output(),
    waitForExit: async (owner, params) => find(owner, params).exited,
    async kill(owner, params) {
      await find(owner, params).end();
      return {};
    },
    release(owner, params) {
      letGo(find(owner, params));
      owners.get(owner)?.terminals.delete(String(params.terminalId));
      return {};
    },
    endOf,
    async stop() {
      isStopping = true;
      for (const owner of [...owners.keys()]) endOf(owner);
      await Promise.allSettled(startings);
      await Promise.all(leaving.values());
    },
    killAll() {
      isStopping = true;
      for (const { terminals } of owners.values()) for (const terminal of terminals.values()) terminal.kill();
      for (const terminal of leaving.keys()) terminal.kill();
    },
  };
}
