// A program from start to end: its output bounded, and nothing of it left when nobody waits any more.
import { spawn } from '../../processes/spawn.ts';
import { ToolFailure } from '../server/tool.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly outputBytes: number;
};
export type Ran = {
  readonly output: string;
  readonly truncated: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

const GRACE_MS = 2000;

export function runProgram({ command, args, cwd, outputBytes }: Program, signal: AbortSignal): Promise<Ran> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // In a group of its own, so that what it starts ends with it.
    const child = spawn(command, [...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let truncated = false;
    const take = (chunk: Buffer) => {
      const room = outputBytes - bytes;
      if (chunk.length > room) truncated = true;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      bytes += Math.min(chunk.length, Math.max(room, 0));
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    const kill = (how: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, how);
        else child.kill(how);
      } catch {
        // It has ended by itself.
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
      if (signal.aborted) kill('SIGKILL'); // whatever of the group has outlived it
      resolve({ output: Buffer.concat(chunks).toString('utf8'), truncated, exitCode, signal: by });
    });
  });
}
