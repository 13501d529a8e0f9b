// Who serves the files and terminals of a session that several clients use, and in what order.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { connectSocket, createToken, type Daemon, type SocketClient, startDaemon } from './daemon.ts';
import { open, type Stage, test } from './harness.ts';

const NO_FILES = { clientCapabilities: {} };
const load = (client: SocketClient, sessionId: string, stage: Stage) =>
  client.call('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });

/** Resolves when so many clients are connected. */
async function clients({ address }: Daemon, token: string, count: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${address}/daemon`, { headers: { authorization: `Bearer ${token}` } });
    if (((await answer.json()) as { clients: unknown[] }).clients.length === count) return;
  }
}

test('files come from the creator, then from another client that has files, then from the daemon; a terminal stays where it began', async ({
  stage,
}) => {
  const file = path.join(stage.cwd, 'a.txt');
  writeFileSync(file, 'on disk');
  const agent = stage.agent('asks');
  const daemon = await startDaemon(stage, [agent], { config: { policy: { version: 1, default: 'allow' } } });
  const token = createToken(stage, 'laptop');
  const owner = createToken(stage, 'root', 'owner');
  const first = await connectSocket(daemon, token);
  const { id } = await open(first, stage.cwd);
  const second = await connectSocket(daemon, token);
  const plain = await connectSocket(daemon, token, NO_FILES);
  const foreign = await connectSocket(daemon, owner);
  for (const client of [second, plain, foreign]) await load(client, id, stage);
  first.on('fs/read_text_file', () => ({ content: 'of the first' }));
  second.on('fs/read_text_file', () => ({ content: 'of the second' }));
  const read = async (at = file) => (await agent.call('fs/read_text_file', { sessionId: id, path: at })).content;

  expect(await read()).toBe('of the first');
  first.socket.terminate();
  await clients(daemon, owner, 3);
  expect(await read()).toBe('of the second');
  second.socket.terminate();
  await clients(daemon, owner, 2);
  expect(await read()).toBe('on disk');
  await agent.call('fs/write_text_file', { sessionId: id, path: file, content: 'written' });
  expect(await read()).toBe('written');
  const outside = await agent.refused('fs/read_text_file', { sessionId: id, path: path.join(stage.state, 'sessions.jsonl') });
  expect(outside.message).toContain('outside');
  const { terminalId } = await agent.call('terminal/create', { sessionId: id, command: 'echo', args: ['here'] });
  await agent.call('terminal/wait_for_exit', { sessionId: id, terminalId });

  const back = await connectSocket(daemon, token);
  await load(back, id, stage);
  back.on('fs/read_text_file', () => ({ content: 'of the next' }));
  expect(await read()).toBe('of the next');
  expect((await agent.call('terminal/output', { sessionId: id, terminalId })).output).toBe('here\n');
  await agent.call('terminal/release', { sessionId: id, terminalId });
  for (const client of [plain, foreign, back]) expect(client.all('terminal/output').length + client.all('terminal/create').length).toBe(0);
  expect([plain, foreign].map((client) => client.all('fs/read_text_file').length)).toEqual([0, 0]);
});

test('files that no client ever offered are not served, and a policy holds for the files of the daemon', async ({ stage }) => {
  const file = path.join(stage.cwd, 'secret.txt');
  writeFileSync(file, 'x');
  const agent = stage.agent('asks');
  const daemon = await startDaemon(stage, [agent], {
    config: { policy: { version: 1, default: 'allow', deny: [{ id: 'hidden', path: ['**/secret.txt'], reason: 'a secret' }] } },
  });
  const [without, able, owner] = [createToken(stage, 'phone'), createToken(stage, 'laptop'), createToken(stage, 'root', 'owner')];
  const phone = await connectSocket(daemon, without, NO_FILES);
  const { id: ofPhone } = await open(phone, stage.cwd);
  expect((await agent.refused('fs/read_text_file', { sessionId: ofPhone, path: file })).code).toBe(-32601);
  await phone.call('session/close', { sessionId: ofPhone });
  phone.socket.terminate();
  await agent.gone();
  const laptop = await connectSocket(daemon, able);
  const { id } = await open(laptop, stage.cwd);
  laptop.socket.terminate();
  await clients(daemon, owner, 0);
  expect((await agent.refused('fs/read_text_file', { sessionId: id, path: file })).message).toContain('hidden');
});
