// Which agent gets a new session.
import { describe, expect, test } from 'vitest';
import { ProxyError } from '../../src/errors.ts';
import { type Choice, chooseAgent } from '../../src/router/route.ts';

const CHOICE: Choice = {
  agents: ['claude', 'codex', 'inhouse'],
  defaultAgent: 'codex',
  routes: [
    { cwd: '/projects/legacy/new/**', agent: 'claude' },
    { cwd: '/projects/legacy/**', agent: 'inhouse' },
    { cwd: '/exact', agent: 'claude' },
  ],
};

describe('the agent of a new session is', () => {
  test.each([
    ['the one asked for, whatever routes say', 'claude', '/projects/legacy/x', 'claude'],
    ['that of the first route that matches', undefined, '/projects/legacy/new/x', 'claude'],
    ['that of a route for a folder deep below', undefined, '/projects/legacy/a/b/c', 'inhouse'],
    ['that of a route for the folder itself', undefined, '/projects/legacy', 'inhouse'],
    ['that of a route for a hidden folder below', undefined, '/projects/legacy/.git/.x', 'inhouse'],
    ['that of a route without a pattern', undefined, '/exact', 'claude'],
    ['the default where only the beginning of the name matches', undefined, '/projects/legacy-2', 'codex'],
    ['the default below a route without a pattern', undefined, '/exact/below', 'codex'],
    ['the default where no route matches', undefined, '/elsewhere', 'codex'],
  ])('%s', (_, asked, cwd, expected) => {
    expect(chooseAgent(CHOICE, asked, cwd)).toBe(expected);
  });
});

test.each(['gemini', 'Claude', '', null, 7, ['claude']])('%j is not an agent, and the error lists the configured ones', (asked) => {
  const answer = chooseAgent(CHOICE, asked, '/');
  expect(answer).toBeInstanceOf(ProxyError);
  expect(answer).toMatchObject({ key: 'AGENT_UNKNOWN', rpc: -32602, data: { agent: asked, agents: CHOICE.agents } });
  expect((answer as ProxyError).message).toContain('claude, codex, inhouse');
});
