// Temporary files that a killed switchboard leaves behind.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeDrafts } from '../../src/agents/leftovers.ts';
import { draftOf } from '../../src/private-files.ts';

let dir: string;
const problems: unknown[] = [];
const tidy = () => removeDrafts(dir, (error) => problems.push(error));
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-tidy-'));
  problems.length = 0;
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
  expect(problems).toEqual([]);
});

const HOUR_MS = 60 * 60_000;
function plant(name: string, ageMs = 0): string {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '{');
  const at = new Date(Date.now() - ageMs);
  utimesSync(file, at, at);
  return name;
}
const left = () => readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

test('drafts of exited processes are removed in every directory; those of running processes stay, and so do files with similar names', () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  plant(draftOf('running/12-mark.json', dead));
  plant(draftOf('capabilities.json', dead));
  plant(draftOf('transcripts/index.jsonl', dead));
  const kept = [plant(draftOf('running/13-mark.json')), plant('capabilities.json'), plant(`notes.${dead}.tmp`)];
  tidy();
  expect(left().sort()).toEqual(kept.map((name) => path.basename(name)).sort());
});

test('a draft that is older than any write takes is removed, even if its pid is in use again', () => {
  plant(draftOf('running/13-mark.json'), 2 * HOUR_MS);
  tidy();
  expect(left()).toEqual([]);
});

test('without a state directory there is nothing to do', () => {
  rmSync(dir, { recursive: true });
  tidy();
  expect(existsSync(dir)).toBe(false);
});
