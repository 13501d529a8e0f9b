// Zed sends every saved default again right after session/new, all at once, whether it applies or not.
import { describe, expect } from 'vitest';
import { type Client, type Json, open, prompt, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';

const two = (stage: Stage) => [stage.agent('alpha'), stage.agent('beta')] as const;
const set = (client: Client, sessionId: string, [configId, value]: readonly [string, string]): Promise<Json> =>
  client.request('session/set_config_option', { sessionId, configId, value });
const values = (answer: Json): Json => answer.result?.configOptions.map(({ currentValue }: Json) => currentValue);

describe('agent=beta in a burst with a model of alpha', () => {
  test('agent first: the session moves, and its new agent refuses the model', async ({ stage }) => {
    const client = await stage.connect(two(stage));
    const { id } = await open(client, stage.cwd);
    const [agent, model] = await Promise.all([set(client, id, ['agent', 'beta']), set(client, id, ['model', 'alpha-large'])]);
    expect(values(agent)).toEqual(['beta', 'beta-small']);
    expect(model.error?.code).toBe(-32602);
    await prompt(client, id, 'hello');
    expect(client.agentText(id)).toBe('beta heard hello');
  });

  test('model first: it is set at alpha, then the session moves', async ({ stage }) => {
    const client = await stage.connect(two(stage));
    const { id } = await open(client, stage.cwd);
    const [model, agent] = await Promise.all([set(client, id, ['model', 'alpha-large']), set(client, id, ['agent', 'beta'])]);
    expect(values(model) ?? model.error.code).toBeOneOf([-32602, ['alpha', 'alpha-large']]);
    expect(values(agent)).toEqual(['beta', 'beta-small']);
    expect(values(await set(client, id, ['agent', 'beta']))).toEqual(['beta', 'beta-small']);
  });

  test('model first, answered by alpha only after the session has moved: no list mixes the two agents', async ({ stage }) => {
    const [alpha, beta] = two(stage);
    alpha.on('session/set_config_option', () => UNANSWERED);
    const client = await stage.connect([alpha, beta]);
    const { id, result } = await open(client, stage.cwd);
    const model = set(client, id, ['model', 'alpha-large']);
    const agent = set(client, id, ['agent', 'beta']);
    const received = await alpha.got('session/set_config_option');
    // By now beta has answered whatever the move sent it; a move that waits for alpha has not begun.
    await open(client, stage.cwd, 'beta');
    alpha.reply(received.msg, { configOptions: result.configOptions.slice(1) });
    expect(values(await agent)).toEqual(['beta', 'beta-small']);
    const late = await model;
    expect(values(late) ?? late.error.code).toBeOneOf([-32602, ['alpha', 'alpha-small']]);
    expect(values(await set(client, id, ['agent', 'beta']))).toEqual(['beta', 'beta-small']);
    expect(values(await set(client, id, ['model', 'beta-large']))).toEqual(['beta', 'beta-large']);
  });
});

test('a burst of equal values changes nothing, and each response has the whole list', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const burst = [
    ['agent', 'alpha'],
    ['model', 'alpha-small'],
    ['agent', 'alpha'],
  ] as const;
  for (const answer of await Promise.all(burst.map((one) => set(client, id, one))))
    expect(values(answer)).toEqual(['alpha', 'alpha-small']);
  expect(beta.all('session/new')).toEqual([]);
});

test('agent=beta twice in a burst opens one session there', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const answers = await Promise.all([set(client, id, ['agent', 'beta']), set(client, id, ['agent', 'beta'])]);
  for (const answer of answers) expect(values(answer)).toEqual(['beta', 'beta-small']);
  expect(beta.all('session/new')).toHaveLength(1);
});

test('a prompt right behind agent=beta goes to beta, and not before beta has the session', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const moved = set(client, id, ['agent', 'beta']);
  const turn = prompt(client, id, 'hello');
  expect(values(await moved)).toEqual(['beta', 'beta-small']);
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe('beta heard hello');
  expect(alpha.all('session/prompt')).toEqual([]);
});

test('a saved agent does not move a session that was just loaded', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id: sessionId } = await open(client, stage.cwd);
  await prompt(client, sessionId, 'begins it'); // only a prompt ties a session to its agent
  const load = client.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
  const moved = set(client, sessionId, ['agent', 'beta']);
  expect((await load).result.configOptions[0].options).toHaveLength(1);
  expect((await moved).error?.code).toBe(-32602);
  expect(beta.all('session/new')).toEqual([]);
});
