// The next prompt after a crash: the session is recovered as it was, or the user learns that it cannot be. It is never silently replaced.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { CAPABILITIES, type Client, choosing, fixture, hello, open, prompt, Refusal } from '../e2e/harness.ts';
import { end, noticed, pidIn, reportedIn, startsOf, test, textOf } from './setup.ts';

const WITH_NOTICES = { clientCapabilities: { ...CAPABILITIES, session: { notices: {} } } };

/** Ends the agent of a session, and waits until the proxy knows. */
async function killed(client: Client, sessionId: string): Promise<void> {
  end(pidIn(sessionId));
  await noticed(client, '"sick" exited');
}

test.concurrent('row 4: the next prompt starts the agent again and resumes the session with its original parameters', async ({ stage }) => {
  const agent = stage.agent('sick');
  const client = await stage.connect([agent, stage.agent('well')]);
  const mcpServers = [{ name: 'docs', command: 'docs-mcp', args: [], env: [{ name: 'KEY', value: '1' }] }];
  const { id } = await open(client, stage.cwd, 'sick', { mcpServers });
  agent.exit();
  await noticed(client, '"sick" exited');
  expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
  expect(agent.pids).toHaveLength(2);
  expect((await agent.got('session/resume')).msg.params).toMatchObject({ sessionId: 'sick-1', cwd: stage.cwd, mcpServers });
  expect([agent.all('session/new').length, agent.all('session/load').length]).toEqual([1, 0]);
});

test.concurrent('row 4: a notice in the session reports what happened, where the client supports notices', async ({ stage }) => {
  const client = stage.proxy({ sick: fixture('well-behaved', 'sick'), well: fixture('well-behaved', 'well') });
  await hello(client, WITH_NOTICES);
  const { id } = await open(client, stage.cwd, 'sick');
  await killed(client, id);
  await prompt(client, id, 'again');
  const kinds = client.updates(id).map(({ sessionUpdate }) => sessionUpdate);
  expect(kinds.indexOf('notice')).toBeLessThan(kinds.indexOf('agent_message_chunk'));
  expect(client.updates(id, 'notice')).toEqual([
    {
      sessionUpdate: 'notice',
      severity: 'warning',
      title: expect.stringContaining('sick'),
      description: expect.stringMatching(/was restarted/),
    },
  ]);
  expect(client.updates(id, 'agent_thought_chunk')).toEqual([]);
});

test.concurrent('row 4: a thought reports it where the client does not, and only in the recovered session', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('well-behaved', 'sick') });
  const [first, second] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  await killed(client, first.id);
  await prompt(client, first.id, 'again');
  expect(client.updates(first.id, 'notice')).toEqual([]);
  expect(textOf(client.updates(first.id, 'agent_thought_chunk')[0])).toBe(
    '[switchboard] sick had exited. It was restarted and the session was recovered.\n',
  );
  expect(client.stderr()).toMatch(/Agent "sick" exited \(signal SIGKILL\)$/m); // it was idle
  expect(reportedIn(client, second.id)).toEqual([]);
  await prompt(client, second.id, 'me too');
  expect(reportedIn(client, second.id)).toHaveLength(1);
  expect(reportedIn(client, first.id)).toHaveLength(1);
});

test.concurrent('row 4: an interrupted turn is mentioned only where there was one', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick', '1') });
  const [busy, idle] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const { error } = await prompt(client, busy.id, 'crash');
  expect(error.message).toMatch(/exited \(.*\) before answering.* run: switchboard agents test sick$/);
  for (const { id } of [busy, idle]) await prompt(client, id, 'again');
  expect(reportedIn(client, busy.id).join('')).toContain('; the interrupted turn is not repeated.');
  expect(reportedIn(client, idle.id).join('')).toContain('the session was recovered.');
});

test.concurrent('row 4: an agent that cannot resume loads the session, and its replay does not reach the client', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('no-resume', 'sick'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  await prompt(client, id, 'before');
  await killed(client, id);
  expect((await prompt(client, id, 'after')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toMatch(new RegExp(`^before by ${pidIn(id)};after by (?!${pidIn(id)};)\\d+;$`));
  expect(reportedIn(client, id)).toHaveLength(1);
});

test.concurrent('row 4: an agent that can neither resume nor load: a clear error each time, and no session in place of the lost one', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('no-load', 'sick'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  await killed(client, id);
  for (const _ of [1, 2]) {
    const { error } = await prompt(client, id, 'again');
    expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', sessionId: id, reason: 'session_lost' } });
    expect(error.message).toMatch(/lost when agent "sick" exited.*neither session\/resume nor session\/load.*new session/);
  }
  expect(client.agentText(id)).toBe('');
  const fresh = await open(client, stage.cwd, 'sick');
  expect((await prompt(client, fresh.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 4: an agent that refuses to recover the session: its own reason is in the error, and no fresh session is opened', async ({
  stage,
}) => {
  const agent = stage.agent('sick');
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  for (const method of ['session/resume', 'session/load'])
    agent.on(method, () => {
      throw new Refusal(-32002, 'no previous sessions');
    });
  agent.exit();
  await noticed(client, '"sick" exited');
  const { error } = await prompt(client, id, 'again');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', sessionId: id, reason: 'session_lost' } });
  expect(error.message).toContain('no previous sessions');
  expect([agent.all('session/new').length, agent.all('session/prompt').length]).toEqual([1, 0]);
});

test.concurrent('row 4: an agent that dies again during the recovery: one error, and the prompt after it can still work', async ({
  stage,
}) => {
  const agent = stage.agent('sick');
  const client = await stage.connect([agent, stage.agent('well')]);
  const { id } = await open(client, stage.cwd, 'sick');
  agent.exit();
  await noticed(client, '"sick" exited');
  agent.on('session/resume', () => {
    agent.on('session/resume', () => ({}));
    agent.exit();
    return new Promise(() => {});
  });
  const { error } = await prompt(client, id, 'again', 'again');
  expect(error.code).toBe(-32603);
  expect(error.message).toContain('"sick" exited');
  expect((await prompt(client, id, 'once more')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.answersTo('again')).toHaveLength(1);
  expect(agent.pids).toHaveLength(3);
});

test.concurrent('row 4: with restart.enabled false a lost session stays lost, no process is started for it, and a new session works', async ({
  stage,
}) => {
  const sick = { ...fixture('crash-mid-turn', 'sick'), restart: { enabled: false } };
  const client = await stage.connect({ sick, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  expect((await prompt(client, id, 'crash')).error.data.code).toBe(17);
  const { error } = await prompt(client, id, 'again');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', sessionId: id } });
  expect(error.message).toMatch(/restart\.enabled is false.*new session/);
  expect(startsOf(stage, 'sick')).toBe(1);
  await open(client, stage.cwd, 'sick');
  expect(startsOf(stage, 'sick')).toBe(2);
});

test.concurrent('row 4: a crash loop ends after restart.max restarts, with one prominent notice and the command that helps', async ({
  stage,
}) => {
  const sick = { ...fixture('crash-mid-turn', 'sick'), restart: { max: 2, window_s: 60 } };
  const client = await stage.connect({ sick, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  for (const _ of [1, 2, 3]) expect((await prompt(client, id, 'crash')).error.data.code).toBe(17);
  for (const _ of [1, 2]) {
    const { error } = await prompt(client, id, 'crash');
    expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'crash-loop' } });
    expect(error.message).toMatch(/"sick" crashed more than 2 times within 60 s.*switchboard agents test sick/);
  }
  expect(await refusedNew(client, stage.cwd)).toMatch(/switchboard agents test sick/);
  expect(startsOf(stage, 'sick')).toBe(3);
  await open(client, stage.cwd, 'well');
  await noticed(client, /crashed more than .* restarts in/);
  expect(client.stderr().match(/restarts in .* switchboard --config \S+ agents test sick/g)).toHaveLength(1);
});

async function refusedNew(client: Client, cwd: string): Promise<string> {
  return (await client.refused('session/new', { cwd, mcpServers: [], ...choosing('sick') })).message;
}

test.concurrent('row 4: after the window of a crash loop the agent may be tried again', async ({ stage }) => {
  const sick = { ...fixture('crash-mid-turn', 'sick'), restart: { max: 0, window_s: 1 } };
  const client = await stage.connect({ sick, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  await prompt(client, id, 'crash');
  const { error } = await prompt(client, id, 'again');
  expect(error.data.reason).toBe('crash-loop');
  await delay(error.data.retryInMs);
  expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
});
