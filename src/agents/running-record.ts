// The running processes, in one file per proxy: pid and start time of every child, so that the next start can stop what a killed proxy left
// behind, and the agents' health for other commands.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { startTimeOf } from '../processes/process-table.ts';
import { posixTree } from '../processes/process-tree.ts';
/** The system may have reused the pid; the start time tells. */
export type ProcessId = { readonly pid: number; readonly startTime: string | undefined };

export type RunningRecord = {
  readonly owner: ProcessId;
  /** The value that all children of this proxy have in their environment. */
  readonly mark: string;
  readonly children: readonly ProcessId[];
  /** By agent. Only the proxy reads the values. */
  readonly health: Readonly<Record<string, unknown>>;
  /** Prompts that wait for the end of a turn. */
  readonly queued: readonly { readonly sessionId: string; readonly text: string }[];
};

export type RunningRecordWriter = {
  childStarted(pid: number): void;
  /** Writes only changes. */
  healthIs(health: RunningRecord['health'], queued: RunningRecord['queued']): void;
  /** All children have exited. */
  clear(): void;
};

const recordsDir = (stateDir: string): string => path.join(stateDir, 'running');

/** Marks every process started for one client. Not a secret: those processes can read it. */
export function newMark(): string {
  return [process.pid, Date.now(), Math.floor(Math.random() * 2 ** 52)].map((part) => part.toString(36)).join('-');
}

export function createRunningRecord(stateDir: string, mark: string, onProblem: (error: unknown) => void): RunningRecordWriter {
  const dir = recordsDir(stateDir);
  const file = path.join(dir, `${process.pid}-${mark}.json`);
  const owner = { pid: process.pid, startTime: startTimeOf(process.pid) };
  let children: readonly ProcessId[] = [];
  let health: RunningRecord['health'] = {};
  let queued: RunningRecord['queued'] = [];
  let written = '';

  function write(): void {
    const text = JSON.stringify({ owner, mark, children, health, queued } satisfies RunningRecord);
    if (text === written) return;
    written = text;
    try {
      makeDirectory(dir);
      replaceFile(file, text); // atomic: a reader of a partial record would believe that this process has exited
    } catch (error) {
      onProblem(error);
    }
  }
  return {
    childStarted(pid) {
      children = [...children.filter((child) => posixTree(child.pid).isAlive()), { pid, startTime: startTimeOf(pid) }];
      write();
    },
    healthIs(now, waiting) {
      health = now;
      queued = waiting;
      if (children.length > 0) write();
    },
    clear() {
      children = [];
      try {
        rmSync(file, { force: true });
      } catch (error) {
        onProblem(error);
      }
    },
  };
}

export type FoundRecord = { readonly file: string; readonly record: RunningRecord | undefined };

/** All records; undefined for an invalid file. */
export function readRunningRecords(stateDir: string): readonly FoundRecord[] {
  const dir = recordsDir(stateDir);
  let names: readonly string[];
  try {
    names = readdirSync(dir).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.map((name) => ({ file: path.join(dir, name), record: read(path.join(dir, name)) }));
}

/** Whether the same process still runs. */
export function isRunning({ pid, startTime }: ProcessId): boolean {
  return startTime !== undefined && startTimeOf(pid) === startTime;
}

function read(file: string): RunningRecord | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8'));
    const isRecord =
      typeof value?.owner?.pid === 'number' &&
      typeof value.mark === 'string' &&
      value.mark !== '' &&
      Array.isArray(value.children) &&
      value.children.every((child: unknown) => typeof (child as ProcessId | null)?.pid === 'number');
    return isRecord ? value : undefined;
  } catch {
    return undefined;
  }
}
