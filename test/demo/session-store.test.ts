// The session store of the demo agents, in memory and on disk.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { profiles } from '../../src/demo/agents.ts';
import {
  addToTranscript,
  createDirectoryStore,
  createMemoryStore,
  newSessionRecord,
  type SessionRecord,
} from '../../src/demo/session-store.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'demo-store-'));
afterAll(() => rmSync(directory, { recursive: true }));

function record(): SessionRecord {
  const profile = profiles.get('builder');
  if (profile === undefined) throw new Error('no builder');
  return newSessionRecord(profile, '/project');
}

describe.each([
  ['in memory', () => createMemoryStore()],
  ['in a directory', () => createDirectoryStore(mkdtempSync(path.join(directory, 'store-')), 'builder')],
])('a store %s', (_, create) => {
  test('returns what was saved last', () => {
    const store = create();
    const saved = record();
    store.save(saved);
    store.save({ ...saved, turns: 7 });
    expect(store.find(saved.sessionId)).toEqual({ ...saved, turns: 7 });
    expect(store.all()).toEqual([{ ...saved, turns: 7 }]);
  });

  test('is not affected by later changes to a record', () => {
    const store = create();
    const saved = record();
    store.save(saved);
    saved.turns = 7;
    expect(store.find(saved.sessionId)?.turns).toBe(0);
  });

  test('does not know a session that was never saved', () => {
    expect(create().find(record().sessionId)).toBeUndefined();
  });
});

describe('a store in a directory', () => {
  test.each(['../secret', 'secret', '', 'sketcher-00000000-0000-0000-0000-000000000000'])(
    'does not take %j for one of its sessions',
    (sessionId) => {
      const inner = mkdtempSync(path.join(directory, 'inner-'));
      const stored = JSON.stringify({ ...record(), sessionId });
      writeFileSync(path.join(directory, 'secret.json'), stored);
      writeFileSync(path.join(inner, `${path.basename(sessionId)}.json`), stored);
      const store = createDirectoryStore(inner, 'builder');
      expect(store.find(sessionId)).toBeUndefined();
      expect(store.all()).toEqual([]);
    },
  );

  test('skips a damaged file and lists the others', () => {
    const inner = mkdtempSync(path.join(directory, 'damaged-'));
    const store = createDirectoryStore(inner, 'builder');
    const saved = record();
    store.save(saved);
    writeFileSync(path.join(inner, `${record().sessionId}.json`), '{"sessionId":');
    writeFileSync(path.join(inner, `${record().sessionId}.json`), '{"sessionId":1}');
    expect(store.all()).toEqual([saved]);
  });
});

test('chunks of one message are kept as one, chunks of different messages are separate', () => {
  const transcript: SessionRecord['transcript'] = [];
  const say = (sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk', text: string) =>
    addToTranscript(transcript, { sessionUpdate, content: { type: 'text', text } });
  say('user_message_chunk', 'a');
  say('user_message_chunk', 'b');
  say('agent_thought_chunk', 'c');
  say('agent_message_chunk', 'd');
  say('agent_message_chunk', 'e');
  expect(transcript.map((update) => 'content' in update && update.content)).toEqual(
    ['a', 'b', 'c', 'de'].map((text) => ({ type: 'text', text })),
  );
});
