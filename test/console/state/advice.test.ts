// Advice for failed prompts.
import { expect, test } from 'vitest';
import { ClientError } from '../../../src/client/client-error.ts';
import type { AgentRow } from '../../../src/console/protocol/state.ts';
import { adviceOn } from '../../../src/console/state/advice.ts';

const method = (id: string) => ({ id, name: id });
const agents = [
  { name: 'one', authMethods: [method('a'), method('b')] },
  { name: 'two', authMethods: [method('a')] },
] as unknown as readonly AgentRow[];
const login = (data?: object) => adviceOn(new ClientError(-32000, 'Authentication required', data), agents).logins?.map(({ id }) => id);

test('a login is offered by the methods in the failure, else by those of its agent, under their configured ids', () => {
  expect(login({ agent: 'one', authMethods: ['one/b'] })).toEqual(['one/b']);
  expect(login({ agent: 'two' })).toEqual(['two/a']);
  expect(login()).toEqual(['one/a', 'one/b', 'two/a']);
  expect(adviceOn(new ClientError(-32000, 'no'), agents.slice(0, 1)).logins).toEqual([method('a'), method('b')]);
  expect(adviceOn(new ClientError(-32000, 'no'), []).hint).toContain('offers no method');
});

test('an agent that exited and an unknown session have their own advice; other failures have none', () => {
  const ended = (reason: string, isTurn: boolean) => adviceOn(new ClientError(-32603, 'no', { agent: 'one', reason }), agents, isTurn).hint;
  expect(ended('agent_exited', true)).toContain('Send the prompt again');
  expect(ended('agent_exited', false)).toContain('Try again');
  for (const reason of ['stopped', 'not_startable', 'session_lost', 'crash-loop']) expect(ended(reason, true)).toBeUndefined();
  expect(adviceOn(new ClientError(-32002, 'unknown'), agents).hint).toContain('start a new session');
  expect(adviceOn(new ClientError(-32603, 'no'), agents)).toEqual({});
  expect(adviceOn(new Error('no'), agents)).toEqual({});
});
