// Serves files and terminals for clients that have none: the proxy's only entry to this folder.
import { setTimeout as delay } from 'node:timers/promises';
import { failure } from '../errors.ts';
import { isObject } from '../json-object.ts';
import { createDescriptors } from './descriptors.ts';
import { type Edit, editTextFile } from './edit-file.ts';
import { readTextFile } from './read-file.ts';
import { createTurns } from './request-queue.ts';
import type { Roots } from './roots.ts';
import type { ContainCommand } from './terminal.ts';
import { createTerminals, type TerminalsOptions } from './terminals.ts';
import { writeTextFile } from './write-file.ts';

const LAST_WRITES_MS = 2000;

export const FILE_METHODS = { read: 'fs/read_text_file', write: 'fs/write_text_file' } as const;
export const TERMINAL_METHODS = [
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
] as const;

/** The session of a request, and where it may reach. */
export type Requester = {
  /** Identifies the session. */
  readonly owner: object;
  readonly roots: Roots;
  /** The real path of a file when the policy was evaluated; undefined without a policy. */
  readonly evaluatedPath?: string | undefined;
  /** From TERM to KILL. */
  readonly graceMs: number;
  /** Puts commands into the sandbox of the session's agent; undefined if it has none. */
  readonly contain?: ContainCommand | undefined;
};

export type Workspace = {
  /** Resolves with the result; rejects with the error for the agent. */
  serve(method: string, params: unknown, requester: Requester): Promise<unknown>;
  hasTerminal(owner: object, terminalId: string): boolean;
  /** The session ended, or its agent did: stops its terminals and drops waiting requests. */
  endOf(owner: object): void;
  /** Resolves when all terminals have stopped. */
  stop(): Promise<void>;
  kill(): void;
};

/** For a server that acts for the user as well as for agents. */
export type EditableWorkspace = Workspace & {
  /** Changes a file, in order with the session's own requests. */
  edit(file: string, edit: Edit, requester: Requester): Promise<{ readonly isWritten: boolean }>;
};

export function createWorkspace(options: TerminalsOptions): EditableWorkspace {
  const descriptors = createDescriptors();
  const turns = createTurns();
  const terminals = createTerminals(descriptors, options);
  return {
    async serve(method, value, { owner, roots, evaluatedPath, graceMs, contain }) {
      if (!isObject(value)) throw failure('PARAMS', [method, 'params must be an object']);
      const params = value;
      switch (method) {
        case 'fs/read_text_file':
          return turns.take(owner, method, () => readTextFile(descriptors, roots, params, evaluatedPath));
        case 'fs/write_text_file':
          return turns.take(owner, method, () => writeTextFile(descriptors, roots, params, evaluatedPath));
        case 'terminal/create':
          return turns.take(owner, method, () => terminals.create(owner, roots, params, graceMs, contain));
        case 'terminal/output':
          return terminals.output(owner, params);
        case 'terminal/wait_for_exit':
          return terminals.waitForExit(owner, params);
        case 'terminal/kill':
          return terminals.kill(owner, params);
        case 'terminal/release':
          return terminals.release(owner, params);
        default:
          throw new Error(`the workspace does not serve ${method}`);
      }
    },
    hasTerminal: terminals.has,
    edit: (file, edit, { owner, roots, evaluatedPath }) =>
      turns.take(owner, 'edit', () => editTextFile(descriptors, roots, file, edit, evaluatedPath)),
    endOf(owner) {
      turns.endOf(owner);
      terminals.endOf(owner);
    },
    async stop() {
      // A write is not left half done; a disk that does not respond is not awaited.
      const written = Promise.race([turns.stop(), delay(LAST_WRITES_MS, undefined, { ref: false })]);
      await Promise.all([terminals.stop(), written]);
    },
    kill: terminals.killAll,
  };
}
