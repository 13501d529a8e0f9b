// What an editor that has no files or terminals of its own would have answered: the one way in for the proxy.
import { setTimeout as delay } from 'node:timers/promises';
import { failure } from '../errors.ts';
import { isObject } from '../json-object.ts';
import { createDescriptors } from './descriptors.ts';
import { type Edit, editTextFile } from './edit-file.ts';
import { readTextFile } from './read-file.ts';
import { createTurns } from './request-queue.ts';
import type { Roots } from './roots.ts';
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

/** Whose request it is, and where it may reach. */
export type Asker = {
  /** Stands for the session. */
  readonly owner: object;
  readonly roots: Roots;
  /** Where the path of a file led when a policy judged it; undefined without a policy. */
  readonly judged?: string | undefined;
  /** From TERM to KILL. */
  readonly graceMs: number;
};

export type Workspace = {
  /** The result; rejects with what the agent is to hear. */
  serve(method: string, params: unknown, asker: Asker): Promise<unknown>;
  /** The session is over, or its agent is: its terminals end, and what waits is not done any more. */
  endOf(owner: object): void;
  /** Resolves when nothing is left of any terminal. */
  stop(): Promise<void>;
  kill(): void;
};

/** For whoever serves the user as well as agents. */
export type EditableWorkspace = Workspace & {
  /** Changes a file, between what the session itself asks for. */
  edit(file: string, edit: Edit, asker: Asker): Promise<{ readonly isWritten: boolean }>;
};

export function createWorkspace(options: TerminalsOptions): EditableWorkspace {
  const descriptors = createDescriptors();
  const turns = createTurns();
  const terminals = createTerminals(descriptors, options);
  return {
    async serve(method, value, { owner, roots, judged, graceMs }) {
      if (!isObject(value)) throw failure('PARAMS', [method, 'params must be an object']);
      const params = value;
      switch (method) {
        case 'fs/read_text_file':
          return turns.take(owner, method, () => readTextFile(descriptors, roots, params, judged));
        case 'fs/write_text_file':
          return turns.take(owner, method, () => writeTextFile(descriptors, roots, params, judged));
        case 'terminal/create':
          return turns.take(owner, method, () => terminals.create(owner, roots, params, graceMs));
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
    edit: (file, edit, { owner, roots, judged }) => turns.take(owner, 'edit', () => editTextFile(descriptors, roots, file, edit, judged)),
    endOf(owner) {
      turns.endOf(owner);
      terminals.endOf(owner);
    },
    async stop() {
      // A write is not left half done; a disk that does not answer is not waited for.
      const written = Promise.race([turns.stop(), delay(LAST_WRITES_MS, undefined, { ref: false })]);
      await Promise.all([terminals.stop(), written]);
    },
    kill: terminals.killAll,
  };
}
