// Turns as tasks of the 2026 era (the extension io.modelcontextprotocol/tasks): the client polls, answers questions and fetches the result, also
// after it lost its connection.
import { randomUUID } from 'node:crypto';
import { type CallToolResult, INVALID_PARAMS, type InputRequest, ProtocolError } from '@modelcontextprotocol/server';
import { fields, type JsonObject } from '../../json-object.ts';
import { KEPT_MS } from './kept-turns.ts';
import { inputRequestOf, NO_REPLY, type Question, type Reply } from './open-requests.ts';
import type { Call } from './tools.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const POLL_MS = 1000;
const MOST_STATUS_CHARACTERS = 200;

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
type Task = {
  readonly taskId: string;
  readonly createdAt: Date;
  readonly abort: AbortController;
  readonly open: Map<string, { readonly question: Question; readonly answer: (reply: Reply) => void }>;
  /** How it ended; `working` until then. */
  ended: Exclude<Status, 'input_required'>;
  /** The status that listeners know. */
  reported: Status;
  updatedAt: Date;
  message: string | undefined;
  outcome: { readonly result: CallToolResult } | { readonly error: { readonly code: number; readonly message: string } } | undefined;
};

const statusOf = ({ ended, open }: Task): Status => (ended === 'working' && open.size > 0 ? 'input_required' : ended);

export type Tasks = {
  /** Starts the work; returns the result that creates the task. */
  create(work: (call: Call) => Promise<CallToolResult>, canAsk: (question: Question) => boolean): JsonObject;
  get(taskId: string): JsonObject;
  update(taskId: string, responses: JsonObject): void;
  cancel(taskId: string): void;
  /** Receives a task, as `get` returns it, whenever its status changes. Returns a function that unsubscribes. */
  onChange(listener: (taskId: string, task: JsonObject) => void): () => void;
};

export function createTasks(now: () => number = Date.now): Tasks {
  const tasks = new Map<string, Task>();
  const listeners = new Set<(taskId: string, task: JsonObject) => void>();

  function find(taskId: string): Task {
    const task = tasks.get(taskId);
    if (!task) throw new ProtocolError(INVALID_PARAMS, `There is no task "${taskId}": it never was, or its time is over`);
    return task;
  }
  function prune(): void {
    for (const [id, task] of tasks) if (task.ended !== 'working' && task.createdAt.getTime() + KEPT_MS < now()) tasks.delete(id);
  }
  function touch(task: Task): void {
    task.updatedAt = new Date(now());
    const status = statusOf(task);
    if (status === task.reported) return;
    task.reported = status;
    for (const listener of [...listeners]) listener(task.taskId, whole(task));
  }
  function end(task: Task, status: Exclude<Status, 'input_required' | 'working'>, outcome: Task['outcome']): void {
    if (task.ended !== 'working') return;
    task.ended = status;
    task.outcome = outcome;
    task.message = undefined;
    for (const { answer } of [...task.open.values()]) answer(NO_REPLY);
    task.open.clear();
    touch(task);
  }
  function callOf(task: Task, canAsk: (question: Question) => boolean): Call {
    return {
      signal: task.abort.signal,
      progress({ text }) {
        task.message = text.slice(0, MOST_STATUS_CHARACTERS);
        touch(task);
      },
      ask: (question, signal) =>
        new Promise((resolve) => {
          if (!canAsk(question)) return resolve(undefined);
          const key = randomUUID();
          const answer = (reply: Reply) => {
            task.open.delete(key);
            signal.removeEventListener('abort', withdrawn);
            touch(task);
            resolve(reply);
          };
          const withdrawn = () => answer(NO_REPLY);
          task.open.set(key, { question, answer });
          signal.addEventListener('abort', withdrawn, { once: true });
          touch(task);
          if (signal.aborted || task.ended !== 'working') withdrawn();
        }),
    };
  }
  function shown(task: Task): JsonObject {
    const { taskId, createdAt, updatedAt, message } = task;
    return {
      ...{ taskId, status: statusOf(task), createdAt: createdAt.toISOString(), lastUpdatedAt: updatedAt.toISOString() },
      ...{ ttlMs: KEPT_MS, pollIntervalMs: POLL_MS },
      ...(message !== undefined && { statusMessage: message }),
    };
  }

  function whole(task: Task): JsonObject {
    const waiting = [...task.open].map(([key, { question }]): [string, InputRequest] => [key, inputRequestOf(question)]);
    return {
      ...shown(task),
      ...(waiting.length > 0 && { inputRequests: Object.fromEntries(waiting) }),
      ...task.outcome,
    };
  }

  return {
    create(work, canAsk) {
      prune();
      const at = new Date(now());
      const task: Task = {
        ...{ taskId: randomUUID(), createdAt: at, updatedAt: at, abort: new AbortController(), open: new Map() },
        ...{ ended: 'working', reported: 'working', message: undefined, outcome: undefined },
      };
      tasks.set(task.taskId, task);
      work(callOf(task, canAsk)).then(
        (result) => end(task, 'completed', { result }),
        (error: unknown) => {
          const { code, message } = fields(error instanceof Error ? { ...error, message: error.message } : {});
          end(task, 'failed', { error: { code: typeof code === 'number' ? code : -32603, message: String(message ?? error) } });
        },
      );
      return { resultType: 'task', ...shown(task) };
    },
    get: (taskId) => whole(find(taskId)),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    update(taskId, responses) {
      const { open } = find(taskId);
      for (const [key, response] of Object.entries(responses)) open.get(key)?.answer(fields(response));
    },
    cancel(taskId) {
      const task = find(taskId);
      if (task.ended !== 'working') return;
      end(task, 'cancelled', undefined);
      task.abort.abort();
    },
  };
}
