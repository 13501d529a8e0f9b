// The systemd units, as systemd's own tools read them.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = path.resolve(import.meta.dirname, '../../config/systemd');
const runtime = mkdtempSync(path.join(os.tmpdir(), 'switchboard-units-'));
afterAll(() => rmSync(runtime, { recursive: true }));
const units = (kind: string) => readdirSync(path.join(folder, kind)).map((name) => path.join(folder, kind, name));

test.each([
  ['system', []],
  ['user', ['--user']],
])('the units of the %s are correct', (kind, flags) => {
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...flags, ...units(kind)], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test.each(units('system').map((unit) => [path.basename(unit), unit]))('the exposure of %s is below 4', (_, unit) => {
  const options = ['--offline=true', '--no-pager'];
  const report = execFileSync('systemd-analyze', ['security', ...options, unit], { encoding: 'utf8' });
  const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
  expect(Number(level)).toBeGreaterThan(0);
  expect(Number(level)).toBeLessThan(4);
});
