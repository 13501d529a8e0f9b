// Updates in which a key occurs twice.
import { expect, test } from 'vitest';
import { type PolicyOptions, type UnderPolicy, underPolicy } from './support.ts';

const CHUNK = '"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"told"}';
const send = async (update: string, options: PolicyOptions = {}): Promise<UnderPolicy> => {
  const all = await underPolicy({}, options);
  all.agent.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${all.id}",${update}}}`);
  await all.settled();
  return all;
};

test.each([
  ['update', `"update":{"sessionUpdate":"plan"},"update":{${CHUNK}}`],
  ['sessionUpdate', `"update":{"sessionUpdate":"plan",${CHUNK}}`],
  ['toolCallId', `"update":{"toolCallId":"a","toolCallId":"b",${CHUNK}}`],
])('a second "%s" withholds the update, with a record and a message', async (key, update) => {
  const all = await send(update);
  expect(all.client.agentText(all.id)).toBe('');
  expect(all.entries).toMatchObject([
    { method: 'session/update', verdict: 'deny', option: 'refused', why: `"${key}" occurs twice`, session: all.id },
  ]);
  expect(String(all.entries[0]?.request)).toContain('"session/update"');
  expect(all.notices).toEqual([expect.stringContaining(`"${key}" occurs twice`)]);
});

test.each([
  ['in a text', `"update":{${CHUNK.replace('told', 'told \\"update\\" \\"sessionUpdate\\" \\"sessionUpdate\\"')}}`],
  ['at another place', `"update":{"_meta":{"sessionUpdate":"x","toolCallId":"a","update":{"toolCallId":"b"}},${CHUNK}}`],
  ['next to an escaped text', `"update":{${CHUNK.replace('told', 'told \\u0041')}}`],
])('the same words %s say nothing', async (_, update) => {
  const all = await send(update);
  expect(all.client.agentText(all.id)).toMatch(/^told/);
  expect([all.entries, all.notices]).toEqual([[], []]);
});

test('where the policy only observes, the update passes and is recorded, without a message', async () => {
  const all = await send(`"update":{"sessionUpdate":"plan",${CHUNK}}`, { isObserving: true });
  expect(all.client.agentText(all.id)).toBe('told');
  expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'passed', mode: 'observe' }]);
  expect(all.notices).toEqual([]);
});

test('any other key that occurs twice counts only in an update about modes', async () => {
  const twice = '"currentModeId":"plan","currentModeId":"ask"';
  const all = await send(`"update":{${twice},${CHUNK}}`);
  expect(all.client.agentText(all.id)).toBe('told');
  const modes = await send(`"update":{${twice},"sessionUpdate":"current_mode_update"}`);
  expect(modes.client.updates(modes.id, 'current_mode_update')).toEqual([]);
});
