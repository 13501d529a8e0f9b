// An MCP server as a child process of ours: in a group of its own, so that what it starts (npx and the like) ends with it.
import type { ChildProcess } from 'node:child_process';
import { type JSONRPCMessage, parseJSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { MARK } from '../../processes/mark.ts';
import { type ProcessTree, treeOf } from '../../processes/process-tree.ts';
import { spawn } from '../../processes/spawn.ts';
import { stopProcess } from '../../processes/stop-process.ts';
import { messageLines } from '../transports/message-lines.ts';

export type ServerProgram = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
};

const GRACE_MS = 2000;

export type ServerProcess = Transport & {
  /** How it ended, once it has. */
  readonly exit: string | undefined;
  /** Has a look at what it says, before anything is made of it; true when it is not for `onmessage`. */
  take?: ((message: unknown) => boolean) | undefined;
};

/** Whoever sees to what a killed process of ours leaves behind. */
export type Children = { readonly mark: string; readonly started: (pid: number) => void };

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
        // Not our whole environment: it holds what is meant for agents.
        const started = spawn(command, [...args], {
          stdio: ['pipe', 'pipe', 'ignore'],
          env: { ...getDefaultEnvironment(), ...env, ...(children && { [MARK]: children.mark }) },
          ...(cwd !== undefined && { cwd }),
          detached: process.platform !== 'win32',
          windowsHide: true,
        });
        child = started;
        tree = treeOf(started);
        if (started.pid !== undefined) children?.started(started.pid);
        process.once('exit', killTree);
        started.once('spawn', resolve);
        started.once('error', (error: NodeJS.ErrnoException) => {
          exit ??= error.code === 'ENOENT' ? `"${command}" was not found` : `"${command}" could not be started (${error.code})`;
          reject(new Error(exit));
        });
        started.stdin?.on('error', () => {}); // its end is told by `close`
        started.stdout?.on('error', () => {});
        started.stdout?.on('data', read);
        started.once('close', (code, signal) => {
          exit ??= signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
          process.off('exit', killTree);
          killTree(); // whatever of it has outlived its root
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
