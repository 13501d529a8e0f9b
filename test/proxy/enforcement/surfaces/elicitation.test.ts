// Forms and links that an agent puts to the user.
import { expect, test } from 'vitest';
import type { Json } from '../../../e2e/harness.ts';
import { type PolicyOptions, underPolicy } from '../support.ts';

const POLICY = { deny: [{ id: 'evil', action: 'elicit', host: 'evil.example' }] };
const form = (properties: Json): Json => ({ mode: 'form', message: 'm', requestedSchema: { type: 'object', properties } });
const link = (url: string): Json => ({ mode: 'url', url, message: 'go', elicitationId: 'e1' });

async function elicited(params: Json, options: PolicyOptions = {}, policy: object = POLICY) {
  const all = await underPolicy(policy, options);
  all.client.on('elicitation/create', () => ({ action: 'accept', content: { answer: 1 } }));
  const result = await all.agent.call('elicitation/create', { sessionId: all.id, ...params });
  return { ...all, result, isShown: all.client.all('elicitation/create').length > 0 };
}

test.each([
  ['a form', form({ color: { type: 'string' } }), 'elicit: form'],
  ['a form without fields', form(undefined), 'elicit: form'],
  ['a form without a schema', { mode: 'form', message: 'm' }, 'elicit: form'],
  ['a form whose fields are odd', form({ color: null, other: 7 }), 'elicit: form'],
  ['a form with a field that has a harmless title', form({ color: { title: 'Your colour' } }), 'elicit: form'],
  ['a link', link('https://good.example/x'), 'elicit: good.example'],
])('%s that no rule denies reaches the client', async (_, params, summary) => {
  const { result, isShown, entries } = await elicited(params);
  expect([result, isShown]).toEqual([{ action: 'accept', content: { answer: 1 } }, true]);
  expect(entries).toMatchObject([{ method: 'elicitation/create', verdict: 'ask', answeredBy: 'policy', option: 'passed', summary }]);
});

test('a link that a rule denies is declined, recorded with its rule, and reported', async () => {
  const { result, isShown, entries, notices } = await elicited(link('https://evil.example/x'));
  expect([result, isShown]).toEqual([{ action: 'decline' }, false]);
  expect(entries).toMatchObject([{ verdict: 'deny', answeredBy: 'policy', option: 'decline', rule: { id: 'evil' } }]);
  expect(entries[0]?.why).toContain('deny by rule evil');
  expect(notices).toEqual([expect.stringMatching(/^a form or link of agent "agent" was declined: deny by rule evil/)]);
});

test.each([
  { api_key: { type: 'string' } },
  { apiKey: {} },
  { password: {} },
  { client_secret: {} },
  { token: {} },
  { credentials: {} },
  { privateKey: {} },
  { passphrase: {} },
  { PASSWD: {} },
  { color: {}, x: { format: 'password' } },
  { x: { title: 'Your API key' } },
])('a form that asks for a secret is declined, whatever is allowed: %j', async (properties) => {
  const { result, isShown, entries, notices } = await elicited(form(properties), {}, { default: 'allow', allow: ['elicit'] });
  expect([result, isShown]).toEqual([{ action: 'decline' }, false]);
  expect(entries).toMatchObject([{ verdict: 'deny', option: 'decline', why: 'a form must not ask for a secret' }]);
  expect(notices.join()).toContain('a form must not ask for a secret');
});

test.each([
  ['a denied link', link('https://evil.example/x')],
  ['a form for a secret', form({ password: {} })],
])('where the policy only observes, %s reaches the client, and is recorded as what would be denied', async (_, params) => {
  const { result, entries, notices } = await elicited(params, { isObserving: true });
  expect(result.action).toBe('accept');
  expect(entries).toMatchObject([{ verdict: 'deny', option: 'passed', mode: 'observe' }]);
  expect(notices).toEqual([]);
});
