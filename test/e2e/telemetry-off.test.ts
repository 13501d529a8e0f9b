// Telemetry that is off is not even loaded: the built program works without its files.
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fixture, hello, open, prompt, SWITCHBOARD, test } from './harness.ts';

const ROOT = path.dirname(path.dirname(SWITCHBOARD));
/** Texts that only its parts have: definitions of metrics, the exporter, spans. */
const ONLY_TELEMETRY = /switchboard_frame_bytes_total|resourceSpans|execute_tool/;

test('a turn without telemetry needs none of its modules, and one with it does', async ({ stage }) => {
  const copy = path.join(stage.dir, 'program');
  for (const part of ['bin', 'dist', 'package.json']) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const dist = path.join(copy, 'dist');
  const chunks = readdirSync(dist).filter(
    (name) => /\.c?js$/.test(name) && ONLY_TELEMETRY.test(readFileSync(path.join(dist, name), 'latin1')),
  );
  expect(chunks.length).toBeGreaterThan(0);
  expect(chunks.join()).not.toMatch(/cli\.cjs|acp-/);
  for (const name of chunks) rmSync(path.join(dist, name));
  const config = stage.writeConfig({ claude: fixture('well-behaved') });
  const start = (env: Record<string, string> = {}) =>
    stage.run(process.execPath, [path.join(copy, 'bin', 'switchboard.js'), 'acp', '--config', config], env);
  const client = start();
  await hello(client);
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'hello')).result.stopReason).toBe('end_turn');
  expect(await client.close()).toBe(0);
  expect(await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }).ended).not.toBe(0);
});
