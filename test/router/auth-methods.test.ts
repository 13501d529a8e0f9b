// Authentication methods of several agents.
import { describe, expect, test } from 'vitest';
import { namespaced, repointed, splitMethodId } from '../../src/router/capabilities.ts';
import fc from '../generated.ts';

const AGENT = { name: 'codex', title: 'Codex CLI' };

describe('a method of one agent among several', () => {
  test('carries the agent in its id and in its name, and everything else unchanged', () => {
    const method = { id: 'key', name: 'API key', description: 'd', _meta: { 'terminal-auth': { command: 'codex', args: ['login'] } } };
    expect(namespaced(AGENT, method)).toEqual({ ...method, id: 'codex/key', name: 'Codex CLI: API key' });
  });

  test('is mapped back, whatever its id looks like', () => {
    const agentName = fc.stringMatching(/^[A-Za-z0-9][\w.-]*$/);
    fc.assert(
      fc.property(agentName, fc.string(), (name, id) => {
        expect(splitMethodId(namespaced({ name, title: name }, { id, name: 'n' }).id)).toEqual({ agent: name, id });
      }),
    );
  });

  test.each(['key', '/key', ''])('%j is not a prefixed id', (id) => {
    expect(splitMethodId(id)).toBeUndefined();
  });
});

describe('a method that runs in a terminal', () => {
  test("runs our command, which runs the agent's with its arguments", () => {
    const method = { id: 'login', name: 'Log in', type: 'terminal', args: ['--login', '--device'], env: { A: '1' } };
    expect(repointed('codex', method)).toEqual({ ...method, args: ['--auth', 'codex', '--', '--login', '--device'] });
    expect(namespaced(AGENT, method)).toMatchObject({ id: 'codex/login', args: ['--auth', 'codex', '--', '--login', '--device'] });
  });

  test('needs no arguments', () => {
    expect(repointed('codex', { id: 'login', name: 'Log in', type: 'terminal' }).args).toEqual(['--auth', 'codex', '--']);
  });

  test('of any other type is unchanged', () => {
    for (const type of [undefined, 'agent', 'env_var']) {
      const method = { id: 'key', name: 'Key', ...(type !== undefined && { type }), args: ['x'] };
      expect(repointed('codex', method)).toBe(method);
    }
  });
});
