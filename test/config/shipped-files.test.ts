// The files that a user copies from config/ match this version.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.ts';
import { createSandbox } from './sandbox.ts';

const shipped = (name: string) => path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', 'config', name);

test('the JSON Schema equals the generated one', () => {
  const file = shipped('switchboard.schema.json');
  const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  if (process.env.UPDATE_SCHEMA === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8'), 'stale; run: UPDATE_SCHEMA=1 npx vitest run test/config/shipped-files.test.ts').toBe(text);
});

test('the JSON Schema accepts valid agent names, and no key that this version refuses', () => {
  const { properties } = configJsonSchema();
  expect(properties?.agent_servers).toMatchObject({ propertyNames: { pattern: '^[A-Za-z0-9][\\w.-]*$' } });
  expect(JSON.stringify(properties?.agent_servers)).not.toContain('"proxies"');
});

test('the example is valid and has the documented settings', async () => {
  const { config, notices } = await createSandbox().load({ configFlag: shipped('switchboard.example.jsonc') });
  expect(config.agents.map(({ name }) => name)).toEqual(['claude', 'gemini']);
  expect(config).toMatchObject({ defaultAgent: 'claude', explicitDefault: true, routes: [{ agent: 'gemini' }] });
  expect(notices).toEqual([]);
});

test('every agent of the catalogue has all fields that an entry needs', () => {
  const { agents } = JSON.parse(readFileSync(shipped('agent-catalog.json'), 'utf8'));
  expect(agents.length).toBeGreaterThan(0);
  for (const { id, distribution } of agents) {
    expect(id).toMatch(/^[A-Za-z0-9][\w.-]*$/);
    expect(distribution.npx).toMatchObject({ package: expect.any(String), args: expect.any(Array) });
  }
});
