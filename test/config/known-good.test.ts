// The cache of validated configurations: a text that was valid is not validated again.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import fc from '../generated.ts';
import { configError, createSandbox } from './sandbox.ts';

const seen = vi.hoisted(() => ({ validated: 0 }));
vi.mock('../../src/config/validate.ts', async (original) => {
  const { validate } = await original<typeof import('../../src/config/validate.ts')>();
  return {
    validate: (...args: Parameters<typeof validate>) => {
      seen.validated++;
      return validate(...args);
    },
  };
});

const GOOD = `{
  // the one we use; "not this", /* nor this */
  "agent_servers": {
    "a": { "command": "x", "args": ["//not a comment", "a,}", "\\"/*", "\\\\"], /* this is */ },
  },
}`;

/** How often the schema ran while `content` was loaded. */
async function validations(sandbox: ReturnType<typeof createSandbox>, content: unknown, version = '1.0.0'): Promise<number> {
  const before = seen.validated;
  await sandbox.load({ configFlag: sandbox.write('given.jsonc', content), version });
  return seen.validated - before;
}

describe('a text that was valid', () => {
  test('is not validated again and gives the same configuration', async () => {
    const sandbox = createSandbox();
    const configFlag = sandbox.write('given.jsonc', GOOD);
    const { config: first } = await sandbox.load({ configFlag, version: '1.0.0' });
    expect(await validations(sandbox, GOOD)).toBe(0);
    expect((await sandbox.load({ configFlag, version: '1.0.0' })).config).toEqual(first);
    expect(first.agents[0]?.args).toEqual(['//not a comment', 'a,}', '"/*', '\\']);
  });

  test('is validated again when its text or our version changes', async () => {
    const sandbox = createSandbox();
    expect(await validations(sandbox, GOOD)).toBe(1);
    expect(await validations(sandbox, `${GOOD} `)).toBe(1);
    expect(await validations(sandbox, GOOD, '1.0.1')).toBe(1);
    expect(await validations(sandbox, GOOD, '1.0.1')).toBe(0);
  });

  test('is validated again if nothing can be cached', async () => {
    const sandbox = createSandbox();
    writeFileSync(sandbox.stateDir, 'not a directory');
    expect(await validations(sandbox, GOOD)).toBe(1);
    expect(await validations(sandbox, GOOD)).toBe(1);
  });

  test.each(['', '{', '{}', '"x"', '[1,null]'])('is validated again if the cache file contains %j', async (list) => {
    const sandbox = createSandbox();
    await validations(sandbox, GOOD);
    writeFileSync(path.join(sandbox.stateDir, 'checked.json'), list);
    expect(await validations(sandbox, GOOD)).toBe(1);
    expect(await validations(sandbox, GOOD)).toBe(0);
  });

  test('leaves only its fingerprint in the cache', async () => {
    const sandbox = createSandbox();
    await validations(sandbox, { agent_servers: { a: { command: 'x', env: { KEY: 'canary-7' } } } });
    expect(readFileSync(path.join(sandbox.stateDir, 'checked.json'), 'utf8')).toMatch(/^\[\s*"[0-9a-z]{22}"\s*\]$/);
  });

  test('still reports a location when the environment makes it invalid', async () => {
    const sandbox = createSandbox();
    const configFlag = sandbox.write('given.jsonc', '{\n  "agent_servers": { "a": { "command": "$' + '{env:NAME}" } }\n}');
    await sandbox.load({ configFlag, version: '1.0.0', env: { NAME: 'x' } });
    const { message } = await configError(sandbox.load({ configFlag, version: '1.0.0', env: {} }));
    expect(message).toContain('given.jsonc:2:');
  });

  test('keeps the order of its agents, even if their names look like numbers', async () => {
    const sandbox = createSandbox();
    const content = '{"agent_servers":{"b":{"command":"x"},"2":{"command":"x"},"1":{"command":"x"}}}';
    for (let n = 0; n < 2; n++) {
      const { config } = await sandbox.load({ configFlag: sandbox.write('given.jsonc', content), version: '1.0.0' });
      expect(config.agents.map(({ name }) => name)).toEqual(['b', '2', '1']);
    }
  });
});

test('an invalid text is never cached', async () => {
  const sandbox = createSandbox();
  for (const content of ['{', '{"agent_servers":{"a":{"command":7}}}', '{"agent_servers":{"a":{"command":"x"},"a":{"command":"y"}}}']) {
    const configFlag = sandbox.write('given.jsonc', content);
    await configError(sandbox.load({ configFlag, version: '1.0.0' }));
    await configError(sandbox.load({ configFlag, version: '1.0.0' }));
  }
  expect(existsSync(path.join(sandbox.stateDir, 'checked.json'))).toBe(false);
});

test('for any mix of strings and comments, the second load equals the first', async () => {
  const piece = fc.constantFrom('"', '\\"', '\\\\', '//', '/*', '*/', ',}', ',]', 'a', ' ', '\\u0022', '{', '[');
  const comment = fc.constantFrom('', ' ', '// x "y\n', '/* , } " */', '/**/', '\n');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), comment, comment, fc.boolean(), async (pieces, before, after, isTrailing) => {
      const sandbox = createSandbox();
      const text = JSON.stringify(pieces.join(''));
      const comma = isTrailing ? `,${after}` : '';
      const content = `${before}{"agent_servers":${after}{"a":{"command":"x","args":[${before}${text}${comma}]${comma}}${before}${comma}}}${after}`;
      const configFlag = sandbox.write('given.jsonc', content);
      const { config: first } = await sandbox.load({ configFlag, version: '1' });
      expect((await sandbox.load({ configFlag, version: '1' })).config).toEqual(first);
      rmSync(sandbox.root, { recursive: true });
    }),
    { numRuns: 40 },
  );
});
