// Runs a program to its exit: its output is limited, and nothing of it stays when the caller is gone.

import { here } from '../../platform/platform.ts';
import { spawn } from '../../processes/spawn.ts';
import { type SandboxedStart, ToolFailure } from '../server/tool.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly outputBytes: number;
  /** For a program that runs in a sandbox. */
  readonly sandbox?: SandboxedStart | undefined;
};
export type Ran = {
  readonly output: string;
  readonly truncated: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

const GRACE_MS = 2000;

export function runProgram({ command, args, cwd, env, outputBytes, sandbox }: Program, signal: AbortSignal): Promise<Ran> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // In its own process group, so that everything it starts stops with it.
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...(sandbox?.stdio ?? [])],
      detached: here.hasProcessGroups,
      windowsHide: true,
    });
    sandbox?.started(child);
    const tree = sandbox?.tree(child);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let truncated = false;
    const take = (chunk: Buffer) => {
      const remainingBytes = outputBytes - bytes;
      if (chunk.length > remainingBytes) truncated = true;
      if (remainingBytes > 0) chunks.push(chunk.subarray(0, remainingBytes));
      bytes += Math.min(chunk.length, Math.max(remainingBytes, 0));
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    const kill = (how: NodeJS.Signals) => {
      try {
        if (tree && child.pid !== undefined) tree.end(how === 'SIGKILL' ? 'kill' : 'term');
        else if (child.pid !== undefined && here.hasProcessGroups) process.kill(-child.pid, how);
        else child.kill(how);
      } catch {
        // It has already exited.
      }
    };
    let hard: NodeJS.Timeout | undefined;
    const cancelled = () => {
      kill('SIGTERM');
      hard = setTimeout(() => kill('SIGKILL'), GRACE_MS);
    };
    signal.addEventListener('abort', cancelled, { once: true });
    const over = () => {
      clearTimeout(hard);
      signal.removeEventListener('abort', cancelled);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      over();
      reject(new ToolFailure(`"${command}" could not be started (${error.code ?? error.message})`, { cause: error }));
    });
    child.on('close', (exitCode, by) => {
      over();
      if (signal.aborted) kill('SIGKILL'); // kills what outlived it in the group
      resolve({ output: Buffer.concat(chunks).toString('utf8'), truncated, exitCode, signal: by });
    });
  });
}
