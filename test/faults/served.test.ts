// Requests that the proxy answers itself, when the agent that asked is gone.
import { expect, test } from 'vitest';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { hello, open } from '../e2e/harness.ts';
import { connectInProcess, createActor, createStillClock } from './in-process.ts';

/** A workspace whose answers the test gives. */
function createSlowWorkspace() {
  const served: { readonly method: string; readonly succeed: (result: unknown) => void; readonly fail: (error: unknown) => void }[] = [];
  const ended: object[] = [];
  const workspace: Workspace = {
    serve: (method) => new Promise((succeed, fail) => void served.push({ method, succeed, fail })),
    hasTerminal: () => false,
    endOf: (owner) => void ended.push(owner),
    stop: async () => {},
    kill: () => {},
  };
  return { workspace, served, ended };
}

async function stage() {
  const slow = createSlowWorkspace();
  const agent = createActor('a');
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: { sessionCapabilities: { resume: {} } } }));
  agent.on('session/new', () => ({ sessionId: 's' }));
  agent.on('session/resume', () => ({}));
  agent.on('session/prompt', () => ({ stopReason: 'end_turn' }));
  agent.on('_x/echo', () => ({}));
  const { workspace } = slow;
  const { client } = connectInProcess({ agents: { a: { command: 'a' } }, launch: agent.launch, clock: createStillClock(), workspace });
  await hello(client, { clientCapabilities: {} });
  await open(client, '/');
  return { ...slow, agent, client };
}

const READ = { sessionId: 's', path: '/x' };

test('an answer does not reach another process of the agent, where its id may be in use again', async () => {
  const { agent, client, served, ended } = await stage();
  agent.send({ jsonrpc: '2.0', id: 7, method: 'fs/read_text_file', params: READ });
  await client.call('_x/echo');
  expect(served).toHaveLength(1);
  agent.exit({ kind: 'exited', code: 1, signal: null });
  expect(ended).toHaveLength(1);
  await client.call('session/prompt', { sessionId: 's', prompt: [] });
  const second = agent.call('fs/read_text_file', READ, 7);
  await client.call('_x/echo');
  served[0]?.succeed({ content: 'of the first life' });
  await client.call('_x/echo');
  expect(agent.answersTo(7)).toEqual([]);
  served[1]?.succeed({ content: 'of the second' });
  expect(await second).toEqual({ content: 'of the second' });
});

test('an internal failure is an error for the agent, and one answer', async () => {
  const { agent, client, served } = await stage();
  const read = agent.refused('fs/read_text_file', READ, 7);
  await client.call('_x/echo');
  served[0]?.fail(new Error('a bug'));
  expect(await read).toMatchObject({ code: -32603, message: 'Internal error in fs/read_text_file (a bug); please report this' });
  expect(agent.answersTo(7)).toHaveLength(1);
});

test('only waits can be cancelled; an action in progress is answered when it is done', async () => {
  const { agent, client, served } = await stage();
  const [read, wait] = [
    agent.call('fs/read_text_file', READ, 'r'),
    agent.refused('terminal/wait_for_exit', { sessionId: 's', terminalId: 't' }, 'w'),
  ];
  await client.call('_x/echo');
  for (const requestId of ['r', 'w', 'none']) agent.notify('$/cancel_request', { requestId });
  expect((await wait).code).toBe(-32800);
  for (const { succeed } of served) succeed({ content: 'x' });
  expect(await read).toEqual({ content: 'x' });
  await client.call('_x/echo');
  for (const id of ['r', 'w']) expect(agent.answersTo(id)).toHaveLength(1);
});
