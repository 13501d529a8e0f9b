// What was recorded through the proxy can be played as an agent; so can recordings of real agents.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { describe, expect } from 'vitest';
import { type Client, hello, type Json, open, prompt, type Stage, SWITCHBOARD, testAtOnce as test } from './harness.ts';
import { agentsRecorded, fileOf, isRequest, readRecording } from './recording.ts';

const replayed = (file: string, ...flags: readonly string[]) => ({
  command: process.execPath,
  args: [SWITCHBOARD, 'replay', file, '--instant', ...flags],
});
const messages = (file: string): Json[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ dir, msg }) => ({ dir, msg }));

/** A conversation with everything: a turn with a permission request, and one that is cancelled. */
async function talk(acpClient: Client, stage: Stage): Promise<void> {
  await hello(acpClient);
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
  const { id } = await open(acpClient, stage.cwd);
  await prompt(acpClient, id, 'ask me', 1);
  const cancelled = prompt(acpClient, id, 'go on', 2);
  await acpClient.until((msg) => msg.params?.update?.content?.text === 'going on');
  acpClient.notify('session/cancel', { sessionId: id });
  await cancelled;
  expect(await acpClient.close()).toBe(0);
}

test('a recording of a played recording is the same recording', async ({ stage }) => {
  const agent = stage.agent('a', {
    async turn(session, message) {
      if (message === 'ask me') {
        const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
        const { outcome } = await agent.call('session/request_permission', {
          sessionId: session.id,
          toolCall: { toolCallId: 't' },
          options,
        });
        agent.sendText(session.id, `you said ${outcome.optionId}`);
        return { stopReason: 'end_turn' };
      }
      agent.sendText(session.id, 'going on');
      await agent.got('session/cancel');
      return { stopReason: 'cancelled' };
    },
  });
  const [first, second] = ['first.jsonl', 'second.jsonl'].map((name) => path.join(stage.dir, name)) as [string, string];
  await talk(stage.proxy([agent], { args: ['--record', first] }), stage);
  expect(statSync(first).mode & 0o777).toBe(0o600);
  expect(messages(first).length).toBeGreaterThan(8);
  // Without the records of the first session, whose id the second one could not have.
  const env = { SWITCHBOARD_HOME: path.join(stage.dir, 'another-state') };
  await talk(stage.proxy({ a: replayed(first, '--strict') }, { args: ['--record', second], env }), stage);
  expect(messages(second)).toEqual(messages(first));
});

test('into a directory, each session is recorded by itself, and each is an agent by itself', async ({ stage }) => {
  const agent = stage.agent('a');
  const dir = path.join(stage.dir, 'recordings');
  mkdirSync(dir);
  for (const message of ['first', 'second']) {
    const acpClient = stage.proxy([agent], { args: ['--record', dir] });
    await hello(acpClient);
    const { id } = await open(acpClient, stage.cwd);
    const { id: other } = await open(acpClient, stage.cwd);
    await prompt(acpClient, other, `${message} other`);
    await prompt(acpClient, id, message);
    expect(await acpClient.close()).toBe(0);
    agent.sessions.clear();
  }
  expect(readdirSync(dir).sort()).toEqual(['a-1.jsonl', 'a-2.jsonl', 'a-3.jsonl', 'a-4.jsonl']);
  for (const name of readdirSync(dir)) {
    const file = path.join(dir, name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(messages(file).flatMap(({ msg }) => msg.method ?? [])).toEqual([
      'initialize',
      'session/new',
      'session/prompt',
      'session/update',
    ]);
  }
  const acpClient = stage.proxy({ a: replayed(path.join(dir, 'a-4.jsonl'), '--strict') });
  await hello(acpClient);
  const { id } = await open(acpClient, stage.cwd);
  await prompt(acpClient, id, 'second other');
  expect([id, acpClient.agentText(id)]).toEqual(['a-4~a', 'a heard second other']); // a-4 is the session that was recorded
  expect(await acpClient.close()).toBe(0);
});

test('an existing file is not overwritten by a recording', async ({ stage }) => {
  const file = stage.writeConfig([]);
  const acpClient = stage.proxy([stage.agent('a')], { args: ['--record', file] });
  expect(await acpClient.close()).toBe(2);
  expect(acpClient.stderr()).toContain('the file exists already');
});

const runs = agentsRecorded.flatMap((agent) => [
  { agent, run: 1 },
  { agent, run: 2 },
]);

describe('recordings of real agents', () => {
  test.for(runs)('$agent, run $run: each session is replayed as it was recorded', async ({ agent, run }, { stage }) => {
    const script = readRecording(agent).filter(({ proc }) => proc === run);
    const player = stage.run(process.execPath, [SWITCHBOARD, 'replay', fileOf(agent), '--instant', '--run', String(run)]);
    const received = new Map<Json, Json>();
    player.on('*', () => new Promise(() => {}));
    for (const { dir, msg } of script) {
      if (dir === 'client->agent') {
        if (msg.method !== undefined) player.send(msg);
        else player.send({ ...msg, id: received.get(msg.id) });
        continue;
      }
      const { id, ...rest } = msg;
      const from = player.seen.length;
      // Sessions are distinguished but not held to their recorded order, so it may have come before.
      const found = await player.until((got) => {
        const { id: gotId, ...gotRest } = got;
        const isIt = JSON.stringify(gotRest) === JSON.stringify(rest);
        return isIt && (isRequest(msg) ? gotId !== undefined && ![...received.values()].includes(gotId) : gotId === id);
      });
      expect(found.index).toBeLessThanOrEqual(from + script.length);
      if (isRequest(msg)) received.set(id, found.msg.id);
    }
    expect(player.seen).toHaveLength(script.filter(({ dir }) => dir === 'agent->client').length);
    expect(await player.close()).toBe(0);
  });

  test.for(agentsRecorded)("%s: the SDK's client accepts it as an agent", async (agent, { stage }) => {
    const script = readRecording(agent).filter(({ proc }) => proc === 1);
    const child = stage.spawn(process.execPath, [SWITCHBOARD, 'replay', fileOf(agent), '--instant']);
    let updates = 0;
    const recorded = (method: string): Json => script.find(({ dir, msg }) => dir === 'client->agent' && msg.method === method)?.msg.params;
    await client({ name: 'sdk-editor' })
      .onNotification(methods.client.session.update, () => void updates++)
      .onRequest(methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: 'selected', optionId: params.options[0]?.optionId ?? '' },
      }))
      .onRequest(methods.client.fs.readTextFile, () => ({ content: '' }))
      .onRequest(methods.client.fs.writeTextFile, () => ({}))
      .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (peer) => {
        const { protocolVersion }: Json = await peer.request(methods.agent.initialize, recorded('initialize'));
        expect(protocolVersion).toBe(1);
        const { sessionId }: Json = await peer.request(methods.agent.session.new, recorded('session/new'));
        const { stopReason }: Json = await peer.request(methods.agent.session.prompt, { ...recorded('session/prompt'), sessionId });
        expect(stopReason).toBe('end_turn');
      });
    expect(updates).toBeGreaterThan(0);
  });
});
