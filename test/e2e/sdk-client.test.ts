// The SDK's own client with the embedded demo agents, which use the SDK too: peers that share no code with us.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { expect } from 'vitest';
import { type Stage, SWITCHBOARD, testAtOnce as test } from './harness.ts';

type Work = (agent: ClientContext, seen: { readonly updates: SessionNotification[]; readonly received: string[] }) => Promise<void>;

/** The proxy without a configuration, so that the demo agents serve, with an SDK client that allows everything. */
async function withClient(stage: Stage, work: Work): Promise<void> {
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'acp']);
  const updates: SessionNotification[] = [];
  const received: string[] = [];
  const files = new Map<string, string>();
  await client({ name: 'sdk-editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      received.push(params.sessionId);
      const yes = params.options.find(({ kind }) => kind === 'allow_once');
      return { outcome: { outcome: 'selected', optionId: yes?.optionId ?? '' } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: files.get(params.path) ?? '' }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      files.set(params.path, params.content);
      return {};
    })
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      await agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
      });
      await work(agent, { updates, received });
    });
}
const text = (message: string): ContentBlock[] => [{ type: 'text', text: message }];
const textOf = (updates: readonly SessionNotification[], id: string): string =>
  updates
    .flatMap(({ sessionId, update }) =>
      sessionId === id && update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
    )
    .join('');

test('prompts on both agents at once, a permission request from each, and sessions loaded by the next process', async ({ stage }) => {
  mkdirSync(path.join(stage.cwd, 'project'));
  const cwd = path.join(stage.cwd, 'project');
  const ids: string[] = [];
  await withClient(stage, async (agent, { updates, received }) => {
    for (const name of ['sketcher', 'builder']) {
      const opened = await agent.request(methods.agent.session.new, { cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: name } } });
      ids.push(opened.sessionId);
      expect(opened.configOptions?.[0]).toMatchObject({ id: 'agent', currentValue: name });
    }
    const [first, second] = ids as [string, string];
    const turns = await Promise.all(
      ids.map((sessionId) => agent.request(methods.agent.session.prompt, { sessionId, prompt: text('hello') })),
    );
    expect(turns.map(({ stopReason }) => stopReason)).toEqual(['end_turn', 'end_turn']);
    expect(textOf(updates, first)).toContain('Sketcher here');
    expect(textOf(updates, second)).toContain('Builder here');

    const edits = await Promise.all(
      ids.map((sessionId, n) =>
        agent.request(methods.agent.session.prompt, { sessionId, prompt: text(`/edit ${path.join(cwd, `notes-${n}.txt`)}`) }),
      ),
    );
    expect(edits.map(({ stopReason }) => stopReason)).toEqual(['end_turn', 'end_turn']);
    expect([...received].sort()).toEqual([...ids].sort());

    const { sessions } = await agent.request(methods.agent.session.list, { cwd });
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
  });

  await withClient(stage, async (agent, { updates }) => {
    for (const [n, sessionId] of ids.entries()) {
      await agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
      expect(textOf(updates, sessionId)).toContain(n === 0 ? 'Sketcher here' : 'Builder here');
      const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/whoami') });
      expect(stopReason).toBe('end_turn');
    }
  });
});

test('a turn cancelled by the SDK’s client ends cancelled, while the other agent’s continues', async ({ stage }) => {
  await withClient(stage, async (agent, { updates }) => {
    const [slow, other] = await Promise.all(
      ['builder', 'sketcher'].map((name) =>
        agent.request(methods.agent.session.new, { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: name } } }),
      ),
    );
    if (!slow || !other) throw new Error('no sessions');
    const turn = agent.request(methods.agent.session.prompt, { sessionId: slow.sessionId, prompt: text('/slow 600') });
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId: other.sessionId, prompt: text('hello') });
    expect(stopReason).toBe('end_turn');
    await agent.notify(methods.agent.session.cancel, { sessionId: slow.sessionId });
    expect((await turn).stopReason).toBe('cancelled');
    expect(textOf(updates, other.sessionId)).toContain('Sketcher here');
  });
});
