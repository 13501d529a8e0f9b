// An MCP server as a child process, in its own process group, so that everything it starts (npx and the like) stops with it.
import type { ChildProcess } from 'node:child_process';
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { here } from '../../platform/platform.ts';
import { type ContainedStart, type ProcessTree, stopProcess, treeOf } from '../../processes/process-tree.ts';
import { MARK, spawn } from '../../processes/spawn.ts';
import { type CallContext, type ToolArgs, ToolFailure, type ToolOutcome } from '../server/tool.ts';
import { messageLines } from '../transports/line-transport.ts';

export type ServerProgram = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
};

const GRACE_MS = 2000;

export type ServerProcess = Transport & {
  /** How it exited, once it has. */
  readonly exit: string | undefined;
  /** Sees each message first; returns true for a message that `onmessage` must not get. */
  take?: ((message: unknown) => boolean) | undefined;
};

/** Tracks processes for cleanup after a crash. */
export type Children = {
  readonly mark: string;
  readonly started: (pid: number) => void;
  /** Puts a server into a sandbox; undefined if servers have none. `why`: there must be one, and there is none. */
  readonly contain?: ((program: ServerProgram) => ContainedStart | { readonly why: string } | undefined) | undefined;
};

export function serverProcess({ command, args, env, cwd }: ServerProgram, children: Children | undefined): ServerProcess {
  let child: ChildProcess | undefined;
  let tree: ProcessTree | undefined;
  let exit: string | undefined;
  const killTree = () => tree?.end('kill');

  const read = messageLines({
    onMessage: heard,
    onNoise: (error) => self.onerror?.(error),
    onTooLong(why) {
      exit ??= why;
      void self.close();
    },
  });
  function heard(value: unknown): void {
    if (self.take?.(value)) return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch (error) {
      return self.onerror?.(error as Error);
    }
    self.onmessage?.(message);
  }

  const self: ServerProcess = {
    get exit() {
      return exit;
    },
    start: () =>
      new Promise((resolve, reject) => {
        // Not our whole environment: it contains values meant for agents.
        const own = { ...getDefaultEnvironment(), ...env, ...(children && { [MARK]: children.mark }) };
        const contained = children?.contain?.({ command, args, env: own, cwd });
        if (contained && 'why' in contained) {
          exit ??= contained.why;
          return reject(new Error(exit));
        }
        const started = spawn(contained?.command ?? command, [...(contained?.args ?? args)], {
          stdio: ['pipe', 'pipe', 'ignore', ...(contained?.stdio ?? [])],
          env: contained?.env ?? own,
          ...(cwd !== undefined && !contained && { cwd }),
          detached: here.hasProcessGroups,
          windowsHide: true,
        });
        contained?.started(started);
        child = started;
        tree = contained?.tree(started) ?? treeOf(started);
        if (started.pid !== undefined) children?.started(started.pid);
        process.once('exit', killTree);
        started.once('spawn', resolve);
        started.once('error', (error: NodeJS.ErrnoException) => {
          exit ??= error.code === 'ENOENT' ? `"${command}" was not found` : `"${command}" could not be started (${error.code})`;
          reject(new Error(exit));
        });
        started.stdin?.on('error', () => {}); // `close` reports its exit
        started.stdout?.on('error', () => {});
        started.stdout?.on('data', read);
        started.once('close', (code, signal) => {
          exit ??= signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
          process.off('exit', killTree);
          killTree(); // kills what outlived the root process
          self.onclose?.();
        });
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (exit !== undefined || !child?.stdin) return reject(new Error(exit ?? 'it has not been started'));
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(new Error(exit ?? error.message)) : resolve()));
      }),
    async close() {
      if (tree && child) await stopProcess(tree, () => child?.stdin?.end(), GRACE_MS);
    },
  };
  return self;
}

export type ProgressStep = { readonly progress?: unknown; readonly total?: unknown; readonly message?: unknown };

/** A step without a message is told by its numbers. */
export function progressText({ progress, total, message }: ProgressStep): string {
  if (typeof message === 'string') return message;
  return total === undefined ? String(progress) : `${String(progress)} of ${String(total)}`;
}

// Calls of a child server's tools in the 2025 era, without the overhead of the SDK, which owns the connection otherwise.
type Pending = { readonly progress: (text: string) => void; readonly done: (outcome: ToolOutcome | Error) => void };
type Message = {
  readonly id?: RequestId;
  readonly method?: unknown;
  readonly params?: (ProgressStep & { readonly progressToken?: RequestId }) | null;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown } | null;
};

export type ServerCalls = {
  call(tool: string, args: ToolArgs, context: Pick<CallContext, 'signal' | 'progress' | 'traceparent'>): Promise<ToolOutcome>;
  /** The server has exited. */
  over(why: string): void;
};

export function serverCalls(server: ServerProcess): ServerCalls {
  const pending = new Map<RequestId, Pending>();
  let nextId = 0;

  server.take = (message) => {
    if (typeof message !== 'object' || message === null) return false;
    const { id, method, params, result, error } = message as Message;
    if (method === 'notifications/progress') {
      const one = pending.get(params?.progressToken ?? '');
      one?.progress(progressText(params ?? {}));
      return one !== undefined;
    }
    const one = method === undefined && id !== undefined ? pending.get(id) : undefined;
    if (!one) return false;
    one.done(error ? new ToolFailure(String(error.message)) : readOutcome(result));
    return true;
  };

  return {
    call: (tool, args, { signal, progress, traceparent }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new DOMException('cancelled', 'AbortError'));
        const id = `call-${nextId++}`; // a form of id that the SDK does not use
        const cancel = () => {
          const params = { requestId: id, reason: 'cancelled' };
          void server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {}); // its exit is reported elsewhere
          done(new DOMException('cancelled', 'AbortError'));
        };
        const done = (outcome: ToolOutcome | Error) => {
          pending.delete(id);
          signal.removeEventListener('abort', cancel);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        };
        pending.set(id, { progress, done });
        signal.addEventListener('abort', cancel, { once: true });
        const params = { name: tool, arguments: args, _meta: { progressToken: id, ...(traceparent !== undefined && { traceparent }) } };
        server.send({ jsonrpc: '2.0', id, method: 'tools/call', params }).catch((error: Error) => done(new ToolFailure(error.message)));
      }),
    over(why) {
      for (const { done } of [...pending.values()]) done(new ToolFailure(why));
    },
  };
}

export function readOutcome(result: unknown): ToolOutcome | Error {
  const { content = [] } = (result ?? {}) as { content?: unknown };
  const isUsable = Array.isArray(content) && content.every((block) => typeof block?.type === 'string');
  return isUsable ? ({ ...(result as object), content } as ToolOutcome) : new ToolFailure('its answer is not that of a tool');
}
