// What is installed for each agent of the configuration: the current version and the one before it.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fields, isObject } from '../json-object.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import type { Plan } from './plan.ts';

/** One installed version of an agent. */
export type Installed = {
  readonly plan: Plan;
  /** The exact version of the package; of a binary, the registry's. */
  readonly version: string;
  /** Of the archive or package, as its registry names it. */
  readonly checksum: string | undefined;
  /** `index`: the registry's index named the checksum. `packages`: npm or PyPI did. `seen`: nobody did, and it is what came. */
  readonly verifiedBy: 'index' | 'packages' | 'seen';
  readonly withScripts: boolean;
  /** In the store. */
  readonly folder: string;
  readonly command: string;
  /** Before the arguments of the plan: a script, if `command` is Node. */
  readonly prefix: readonly string[];
  readonly at: string;
};

export type InstallRecord = {
  /** The agent's name in the configuration. */
  readonly name: string;
  readonly id: string;
  /** The index it came from, or `bundled`. */
  readonly registry: string;
  readonly isPreview: boolean;
  readonly current: Installed;
  readonly previous: Installed | undefined;
};

export type InstallRecords = {
  all(): readonly InstallRecord[];
  find(name: string): InstallRecord | undefined;
  save(record: InstallRecord): void;
  remove(name: string): void;
};

export function createInstallRecords(stateDir: string): InstallRecords {
  const dir = path.join(stateDir, 'agents', 'installed');
  const fileOf = (name: string) => path.join(dir, `${name}.json`);

  function read(name: string): InstallRecord | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(fileOf(name), 'utf8'));
      return isRecord(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    all() {
      try {
        return readdirSync(dir).flatMap((file) => (file.endsWith('.json') ? (read(file.slice(0, -'.json'.length)) ?? []) : []));
      } catch {
        return [];
      }
    },
    find: read,
    save(record) {
      makeDirectory(dir);
      replaceFile(fileOf(record.name), `${JSON.stringify(record, null, 2)}\n`);
    },
    remove: (name) => rmSync(fileOf(name), { force: true }),
  };
}

/** Folder names become paths that are deleted. */
const FOLDER = /^[0-9a-f]{40}$/;

function isRecord(value: unknown): value is InstallRecord {
  const isInstalled = (one: unknown) => FOLDER.test(String(fields(one).folder)) && isObject(fields(one).plan);
  const { name, id, current, previous } = fields(value);
  return typeof name === 'string' && typeof id === 'string' && isInstalled(current) && (previous === undefined || isInstalled(previous));
}
