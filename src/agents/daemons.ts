// A process that an agent put into its own group is a daemon: the proxy reports it and does not stop it. While the daemon runs, a file per
// proxy records it, so that the user can find it later.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { processesMarked, programOf, startTimeOf } from '../processes/process-table.ts';
import { isRunning, type ProcessId } from './running-record.ts';

export type Daemon = ProcessId & { readonly program: string | undefined };

const daemonsDir = (stateDir: string): string => path.join(stateDir, 'daemons');

/** Finds the daemons of a proxy whose agents have exited; `isEnded` names groups that are exiting. */
export function findDaemons(mark: string, isEnded: (group: number) => boolean = () => false): readonly Daemon[] {
  return processesMarked(mark)
    .filter(({ group }) => !isEnded(group))
    .map(({ pid }) => ({ pid, startTime: startTimeOf(pid), program: programOf(pid) }));
}

export function rememberDaemons(stateDir: string, mark: string, daemons: readonly Daemon[]): void {
  if (daemons.length === 0) return;
  makeDirectory(daemonsDir(stateDir));
  replaceFile(path.join(daemonsDir(stateDir), `${mark}.json`), JSON.stringify(daemons));
}

/** All recorded daemons that still run. */
export function livingDaemons(stateDir: string): readonly Daemon[] {
  return recordsIn(stateDir).flatMap(({ living }) => living);
}

/** Removes the records of daemons that have exited. */
export function forgetDeadDaemons(stateDir: string): void {
  for (const { file, living } of recordsIn(stateDir)) if (living.length === 0) rmSync(file, { force: true });
}

/** `12 (node server.js), 13`, and the command that stops them. */
export function describeDaemons(daemons: readonly Daemon[]): { readonly names: string; readonly end: string } {
  const names = daemons.map(({ pid, program }) => (program === undefined ? `${pid}` : `${pid} (${program})`)).join(', ');
  return { names, end: `kill ${daemons.map(({ pid }) => pid).join(' ')}` };
}

function recordsIn(stateDir: string): readonly { readonly file: string; readonly living: readonly Daemon[] }[] {
  let names: readonly string[];
  try {
    names = readdirSync(daemonsDir(stateDir)).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.map((name) => {
    const file = path.join(daemonsDir(stateDir), name);
    return { file, living: read(file).filter(isRunning) };
  });
}

function read(file: string): readonly Daemon[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((one) => typeof one?.pid === 'number' && typeof one.startTime === 'string') : [];
  } catch {
    return [];
  }
}
