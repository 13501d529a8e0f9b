// Why the system does not start a program, and what to do about it. The error code alone is ambiguous, so the files are inspected.
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { startFailure } from '../processes/spawn.ts';

export type Unstartable = {
  readonly why: string;
  /** The advice, unless it is to check the command. */
  readonly next?: string | undefined;
};

export const TOO_MANY_FILES: Unstartable = {
  why: 'this process has too many files open',
  next: 'Close sessions, or raise the limit where the switchboard is started (ulimit -n)',
};

export function whyUnstartable(error: NodeJS.ErrnoException, { configKey, command, cwd, env }: Program): Unstartable {
  const code = startFailure(error, command, { ...process.env, ...env });
  const kind = cwd === undefined ? 'directory' : kindOf(cwd);
  if (kind !== 'directory') {
    const why = kind === undefined ? `its cwd does not exist: ${cwd}` : `its cwd is not a directory: ${cwd}`;
    return { why, next: `Create that directory, or change "cwd" in ${configKey}` };
  }
  const program = /[\\/]/.test(command) ? kindOf(command) : undefined;
  const check = `Check "command" in ${configKey}`;
  if (code === 'ENOENT' && program === 'file')
    return {
      why: 'the interpreter in its first line was not found',
      next: `Install it, or name another in "command" of ${configKey}`,
    };
  if (code === 'ENOENT') return { why: 'the command was not found' };
  if (code === 'EACCES' && program === 'directory') return { why: 'the command is a directory', next: `${check}: it must name a program` };
  if (code === 'EACCES')
    return {
      why: 'the command is not executable',
      next: `Make it so (chmod +x), or name what runs it in "command" of ${configKey}`,
    };
  if (code === 'EMFILE' || code === 'ENFILE') return TOO_MANY_FILES;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return { why: `the system cannot start another process now (${code})`, next: 'End some processes and try again' };
  return { why: code ?? 'unknown error' };
}

/** Why a command would not start, found without starting it; undefined if it probably would. */
export function whyMissing(program: Program): Unstartable | undefined {
  const { command, cwd, env } = program;
  if (cwd !== undefined && kindOf(cwd) !== 'directory') return whyUnstartable(missing(), program);
  const candidates = command.includes('/')
    ? [command]
    : (env.PATH ?? '').split(path.delimiter).map((directory) => path.join(directory, command));
  const found = candidates.filter((file) => kindOf(file) === 'file');
  if (found.length === 0)
    return whyUnstartable(command.includes('/') && kindOf(command) === 'directory' ? missing('EACCES') : missing(), program);
  return found.some(isExecutable) ? undefined : whyUnstartable(missing('EACCES'), program);
}

const missing = (code = 'ENOENT'): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type Program = {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly configKey: string;
};

function kindOf(path: string): 'directory' | 'file' | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}
