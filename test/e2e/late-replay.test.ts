// An agent that answers session/load and sends the history afterwards: nobody sees it twice, and nobody is accused of it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { readTranscript } from '../../src/store/transcripts/transcript-files.ts';
import { end, noticed, pidIn, test } from '../faults/setup.ts';
import { type Client, fixture, type Json, open, prompt, Refusal, type Stage } from './harness.ts';
import { audit } from './policy-support.ts';

const AGENTS = { late: fixture('real-agents/replays-late', 'late') };
const KILLING = { policy: { version: 1, default: 'allow', agents: { '*': { on_violation: 'kill' } } } };
const DENYING = { policy: { ...KILLING.policy, deny: ['execute(touch ...)'] } };

const WITHOUT_TRANSCRIPTS = { store: { transcripts: false } };

/** The session as its user reads it, without our own messages. */
const conversation = (client: Client, id: string): readonly string[] =>
  client
    .updates(id)
    .filter(({ sessionUpdate, content, toolCallId }) => sessionUpdate !== 'agent_thought_chunk' && (content ?? toolCallId) !== undefined)
    .map(({ content, toolCallId }) => toolCallId ?? content.text);
const recorded = (stage: Stage, id: string): readonly unknown[] =>
  (readTranscript(path.join(stage.state, 'transcripts'), id) ?? []).flatMap((record: Json) =>
    record.role === 'thought' ? [] : (record.toolCallId ?? record.text ?? []),
  );

const TURN = ['step 1. ', 'run-0', 'all ', 'done'];
const load = (client: Client, stage: Stage, sessionId: string) =>
  client.call('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });

describe('a session that is recovered', () => {
  test('does not show its history again inside the next turn', async ({ stage }) => {
    const client = await stage.connect(AGENTS);
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, 'ls a');
    end(pidIn(id));
    await noticed(client, '"late" exited');
    expect((await prompt(client, id, 'ls b')).result).toEqual({ stopReason: 'end_turn' });
    expect(conversation(client, id)).toEqual([...TURN, 'step 1. ', 'run-5', 'all ', 'done']);
    await client.close();
    expect(recorded(stage, id)).toEqual(['ls a', 'step 1. ', 'run-0', 'all done', 'ls b', 'step 1. ', 'run-5', 'all done']);
  });

  test('does not show it without transcripts either, also if the agent had replayed it once before', async ({ stage }) => {
    const first = await stage.connect(AGENTS, { config: WITHOUT_TRANSCRIPTS });
    const { id } = await open(first, stage.cwd);
    await prompt(first, id, 'ls a');
    await first.close();
    const client = await stage.connect(AGENTS, { config: WITHOUT_TRANSCRIPTS });
    await load(client, stage, id);
    await client.until((msg) => msg.params?.update?.content?.text === 'all done');
    await prompt(client, id, 'ls b');
    const before = conversation(client, id);
    expect(before).toEqual(['ls a', 'step 1.', 'run-0', '[Function Response]', 'all done', 'step 1. ', 'run-5', 'all ', 'done']);
    await prompt(client, id, 'exit');
    expect((await prompt(client, id, 'ls c')).result).toEqual({ stopReason: 'end_turn' });
    expect(conversation(client, id)).toEqual([...before, 'step 1. ', 'run-10', 'all ', 'done']);
    expect(recorded(stage, id)).toEqual([]);
  });

  test('is not lost for what its agent did under another policy', async ({ stage }) => {
    const first = await stage.connect(AGENTS, { config: KILLING });
    const { id } = await open(first, stage.cwd);
    await prompt(first, id, 'touch a');
    await first.close();
    const client = await stage.connect(AGENTS, { config: DENYING });
    await load(client, stage, id);
    expect((await prompt(client, id, 'ls b')).result).toEqual({ stopReason: 'end_turn' });
    expect(existsSync(path.join(stage.state, 'audit.jsonl'))).toBe(false);
    // What it does now counts.
    await prompt(client, id, 'touch c');
    await noticed(client, 'The agent was ended');
    expect(audit(stage).filter(({ end: isEnd }) => !isEnd)).toMatchObject([{ summary: 'execute: touch c', outcome: 'noticed' }]);
  });
});

test('a session that is resumed by a load in a new process, without transcripts, does not show what comes before the first prompt', async ({
  stage,
}) => {
  const TWO = { ...AGENTS, well: fixture('well-behaved', 'well') }; // a single agent gets session/resume itself
  const first = await stage.connect(TWO, { config: WITHOUT_TRANSCRIPTS });
  const { id } = await open(first, stage.cwd, 'late');
  await prompt(first, id, 'ls a');
  await first.close();
  const client = await stage.connect(TWO, { config: WITHOUT_TRANSCRIPTS });
  await client.call('session/resume', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
  await client.call('_replay', { sessionId: id });
  expect(conversation(client, id)).toEqual([]);
  await prompt(client, id, 'ls b');
  expect(conversation(client, id)).toEqual(['step 1. ', 'run-5', 'all ', 'done']);
  await prompt(client, id, 'exit');
  await prompt(client, id, 'ls c');
  expect(conversation(client, id)).toEqual(['step 1. ', 'run-5', 'all ', 'done', 'step 1. ', 'run-10', 'all ', 'done']);
});

test('a session that is loaded shows its history once, and records it once, however often it is loaded', async ({ stage }) => {
  const first = await stage.connect(AGENTS);
  const { id } = await open(first, stage.cwd);
  await prompt(first, id, 'ls a');
  await first.close();
  for (const _ of [1, 2]) {
    const client = await stage.connect(AGENTS);
    await load(client, stage, id);
    await client.until((msg) => msg.params?.update?.content?.text === 'all done');
    expect(conversation(client, id)).toEqual(['ls a', 'step 1.', 'run-0', '[Function Response]', 'all done']);
    await client.close();
  }
  const client = await stage.connect(AGENTS);
  await load(client, stage, id);
  await prompt(client, id, 'ls b');
  expect(conversation(client, id)).toEqual([
    'ls a',
    'step 1.',
    'run-0',
    '[Function Response]',
    'all done',
    'step 1. ',
    'run-5',
    'all ',
    'done',
  ]);
  await client.close();
  expect(recorded(stage, id)).toEqual(['ls a', 'step 1. ', 'run-0', 'all done', 'ls b', 'step 1. ', 'run-5', 'all done']);
});

test('a late replay is known also while the policy moves the agent to another mode, and an echo of the prompt ends it', async ({
  stage,
}) => {
  const availableModes = [
    { id: 'default', name: 'Default' },
    { id: 'auto', name: 'Auto', description: 'Runs everything without asking for approval' },
  ];
  const text = (role: string, words: string) => ({ sessionUpdate: `${role}_message_chunk`, content: { type: 'text', text: words } });
  const call = { sessionUpdate: 'tool_call', toolCallId: 'run-1', title: 'touch a', kind: 'execute', rawInput: { command: 'touch a' } };
  const late = stage.agent('late', {
    capabilities: { loadSession: true },
    describe: () => ({ modes: { currentModeId: 'auto', availableModes } }),
    turn({ id }, message) {
      late.update(id, text('user', message));
      if (message === 'first') late.update(id, { ...call, status: 'pending' });
      late.update(id, text('agent', 'after th'));
      late.update(id, text('agent', message === 'first' ? 'e turn' : 'e crash'));
      return { stopReason: 'end_turn' };
    },
  });
  let isBack = false;
  late.on('session/set_mode', ({ sessionId }) => {
    if (!isBack) return {};
    late.update(sessionId, text('user', 'first'));
    late.update(sessionId, { ...call, status: 'completed' });
    late.update(sessionId, text('agent', 'after the turn'));
    return {};
  });
  const config = { policy: { version: 1, default: 'ask' } };
  const client = await stage.connect([late], { config });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'first');
  isBack = true;
  late.exit();
  await noticed(client, '"late" exited');
  const from = client.updates(id).length;
  expect((await prompt(client, id, 'second')).result).toEqual({ stopReason: 'end_turn' });
  const shown = client.updates(id).slice(from);
  expect(shown.flatMap(({ sessionUpdate, content }) => (sessionUpdate === 'agent_message_chunk' ? [content.text] : []))).toEqual([
    'after th',
    'e crash',
  ]);
  expect(shown.filter(({ toolCallId }) => toolCallId !== undefined)).toEqual([]);
  await client.close();
  const next = await stage.connect([late], { config });
  await load(next, stage, id);
  expect(conversation(next, id)).toContain('run-1');
  expect(audit(stage).flatMap(({ summary }) => summary ?? [])).toEqual(Array(3).fill('mode: auto'));
});

test('the reason why a session is lost is the reason of its agent, with its details', async ({ stage }) => {
  const agent = stage.agent('sick', { capabilities: { loadSession: true } });
  agent.on('session/load', () => {
    throw new Refusal(-32603, 'Internal error', { details: 'Invalid session identifier "sick-1".' });
  });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  agent.exit();
  await noticed(client, '"sick" exited');
  expect((await prompt(client, id, 'again')).error.message).toContain('Internal error: Invalid session identifier "sick-1".');
});
