// The daemon of this user: a file in the state directory names its process and its address. A file whose process is gone is replaced.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fields } from '../../json-object.ts';
import { draftOf, makeDirectory } from '../../private-files.ts';
import { lockOwner, mayBeAlive } from '../../processes/lock-owner.ts';

export type RunningDaemon = {
  readonly pid: number;
  /** Such as `http://127.0.0.1:8137`. */
  readonly address: string;
  readonly startedAt: string;
  /** A file that opens the console in a browser; undefined if there is none. */
  readonly consoleFile: string | undefined;
};

const fileOf = (stateDir: string): string => path.join(stateDir, 'daemon.json');

/** Undefined if none runs. */
export function runningDaemon(stateDir: string): RunningDaemon | undefined {
  const found = read(stateDir);
  return found && mayBeAlive(found.owner) ? found : undefined;
}

function read(stateDir: string): (RunningDaemon & { readonly owner: string }) | undefined {
  try {
    const { owner, pid, address, startedAt, consoleFile } = fields(JSON.parse(readFileSync(fileOf(stateDir), 'utf8')));
    if (typeof owner !== 'string' || typeof pid !== 'number' || typeof address !== 'string' || typeof startedAt !== 'string')
      return undefined;
    return { owner, pid, address, startedAt, consoleFile: typeof consoleFile === 'string' ? consoleFile : undefined };
  } catch {
    return undefined; // there is none, or it is no such file: both mean that none is known
  }
}

/** Registers this process as the daemon. Returns a function that ends that; undefined if another daemon runs. */
export function claimDaemon(stateDir: string, about: Pick<RunningDaemon, 'address' | 'consoleFile'>): (() => void) | undefined {
  const file = fileOf(stateDir);
  const owner = lockOwner();
  const draft = draftOf(file);
  makeDirectory(stateDir);
  writeFileSync(draft, `${JSON.stringify({ owner, pid: process.pid, startedAt: new Date().toISOString(), ...about })}\n`, { mode: 0o600 });
  try {
    for (let tries = 0; tries < 2; tries++) {
      try {
        linkSync(draft, file); // fails if there is one
        return () => void (read(stateDir)?.owner === owner && rmSync(file, { force: true }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        if (runningDaemon(stateDir)) return undefined;
        rmSync(file, { force: true });
      }
    }
    return undefined;
  } finally {
    rmSync(draft, { force: true });
  }
}
