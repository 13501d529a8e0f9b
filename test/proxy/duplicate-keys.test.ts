// Duplicate keys in an agent's frames: if the proxy checked one value and forwarded both, the client could read the other.
import { describe, expect, test } from 'vitest';
import { choosing, type Json, open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { execution, selected } from '../e2e/policy-support.ts';
import { type Actor, able, CWD, chunk, connection, end } from './actors.ts';
import { memoryEnforcement } from './memory-enforcement.ts';

const line = (agent: Actor, members: string) => agent.line(`{"jsonrpc":"2.0",${members}}`);
const update = (agent: Actor, sessionId: string, members: string) =>
  line(agent, `"method":"session/update","params":{"sessionId":"${sessionId}",${members}}`);

/** Two agents with a session each; the first one attacks. */
async function twoAgents(enforcement?: ReturnType<typeof memoryEnforcement>['enforcement']) {
  const agents = [able('left'), able('right')] as const;
  const { client } = await connection(agents, {}, enforcement ? { enforcement } : {});
  const [mine, other] = [await open(client, CWD, 'left'), await open(client, CWD, 'right')];
  return { left: agents[0], right: agents[1], client, mine: mine.id, other: other.id };
}

describe("another agent's resources cannot be reached through a duplicate key:", () => {
  test.each(['output', 'kill', 'release', 'wait_for_exit'])('terminal/%s', async (act) => {
    const { left, right, client, mine, other } = await twoAgents();
    client.on('terminal/create', ({ command }) => ({ terminalId: command }));
    client.on(`terminal/${act}`, () => ({ output: 'secret', truncated: false }));
    await left.call('terminal/create', { sessionId: 's1', command: 'own' });
    await right.call('terminal/create', { sessionId: 's1', command: 'foreign' });
    expect([mine, other]).toEqual(['s1', 's1~right']);
    for (const [asked, key] of Object.entries({ plain: 'terminalId', escaped: 'terminal\\u0049d' })) {
      line(left, `"id":"${asked}","method":"terminal/${act}","params":{"sessionId":"s1","terminalId":"own","${key}":"foreign"}`);
      const { msg } = await left.until(({ id }) => id === asked);
      expect(msg.error).toMatchObject({ code: -32600, message: expect.stringContaining('"terminalId" occurs twice') });
    }
    expect(client.all(`terminal/${act}`)).toEqual([]);
  });

  test('a withdrawn request', async () => {
    const { left, right, client, mine } = await twoAgents();
    client.on('session/request_permission', () => UNANSWERED);
    void right.request('session/request_permission', execution('s1', 'make'));
    const { msg: foreign } = await client.got('session/request_permission');
    void left.request('session/request_permission', execution('s1', 'make'), 'own');
    await client.until(({ method, id }) => method === 'session/request_permission' && id !== foreign.id);
    line(left, `"method":"$/cancel_request","params":{"requestId":"own","requestId":${JSON.stringify(foreign.id)}}`);
    expect((await prompt(client, mine, 'behind that')).result).toEqual(end);
    expect(client.all('$/cancel_request')).toEqual([]);
  });

  test('a form, and its completion', async () => {
    const { left, right, client, mine } = await twoAgents();
    client.on('elicitation/create', () => ({ action: 'decline' }));
    await right.call('elicitation/create', { sessionId: 's1', mode: 'url', url: 'https://x', elicitationId: 'foreign', message: 'm' });
    for (const [key, value] of [
      ['elicitationId', '"foreign"'],
      ['requestId', '1'],
    ]) {
      const about = `"mode":"url","url":"https://x","message":"m"`;
      line(left, `"id":"${key}","method":"elicitation/create","params":{"sessionId":"s1",${about},"${key}":"own","${key}":${value}}`);
      const { msg } = await left.until(({ id }) => id === key);
      expect(msg.error).toMatchObject({ code: -32600, message: expect.stringContaining(`"${key}" occurs twice`) });
    }
    line(left, `"method":"elicitation/complete","params":{"elicitationId":"own","elicitationId":"foreign"}`);
    expect((await prompt(client, mine, 'behind that')).result).toEqual(end);
    expect([client.all('elicitation/create').length, client.all('elicitation/complete')]).toEqual([1, []]);
  });

  test('an MCP server of the client', async () => {
    const agents = [able('left'), able('right')] as const;
    const { client } = await connection(agents);
    for (const [name, serverId] of [
      ['left', 'own'],
      ['right', 'foreign'],
    ])
      await open(client, CWD, name, { mcpServers: [{ type: 'acp', name: serverId, serverId }] });
    client.on('mcp/message', () => ({ result: {} }));
    line(
      agents[0],
      '"id":"m","method":"mcp/message","params":{"serverId":"own","serverId":"foreign","requestId":"1","method":"tools/list"}',
    );
    const { msg } = await agents[0].until(({ id }) => id === 'm');
    expect(msg.error).toMatchObject({ code: -32600, message: expect.stringContaining('"serverId" occurs twice') });
    expect(client.all('mcp/message')).toEqual([]);
  });

  test('a session in an update or a list', async () => {
    const { left, client, mine, other } = await twoAgents();
    update(left, 's1', `"update":{"sessionUpdate":"subagent_update","sessionId":"s1","sessionId":"${other}"}`);
    const entry = `{"sessionId":"s1","cwd":"/work","sessionId":"${other}"}`;
    left.on('session/list', (_, { id }) => {
      line(left, `"id":${JSON.stringify(id)},"result":{"sessions":[${entry},{"sessionId":"s1","cwd":"/work"}]}`);
      return UNANSWERED;
    });
    const { sessions } = await client.call('session/list', {});
    expect(sessions.map(({ sessionId }: Json) => sessionId)).toEqual([mine]);
    const { line: shown } = await client.got('session/update');
    expect(shown).not.toContain(`"sessionId":${JSON.stringify(other)}`);
  });
});

describe('under a policy', () => {
  const refusing = () => memoryEnforcement({ default: 'ask', allow: ['read($cwd/**)'], agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const MODES = '{"currentModeId":"plan","availableModes":[{"id":"plan","name":"Plan"}]}';
  const FREE = '{"currentModeId":"yolo","availableModes":[{"id":"yolo","name":"Yolo"}]}';
  const option = (modes: string) => `{"id":"how","category":"mode","type":"select","name":"How","currentValue":"plan","options":${modes}}`;
  const HIDDEN = option('[{"value":"plan","name":"Plan"},{"value":"yolo","name":"Yolo"}]');

  test.each([
    ['modes', `"modes":${MODES},"modes":${FREE}`],
    ['a list of modes', '"modes":{"currentModeId":"plan","availableModes":[],"availableModes":[{"id":"yolo","name":"Yolo"}]}'],
    ['options', `"configOptions":[],"configOptions":[${HIDDEN}]`],
    ['the id of an option', `"configOptions":[${HIDDEN.replace('"id":"how"', '"id":"x","id":"how"')}]`],
  ])('a duplicate %s in the response that opens a session is dropped', async (_, members) => {
    const agents = [able('left'), able('right')] as const;
    const { enforcement, entries } = refusing();
    const { client } = await connection(agents, {}, { enforcement });
    agents[0].on('session/new', (_params, { id }) => {
      line(agents[0], `"id":${JSON.stringify(id)},"result":{"sessionId":"duplicate",${members}}`);
      return UNANSWERED;
    });
    const error = await client.refused('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') });
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('occurs twice'), data: { agent: 'left' } });
    expect((await agents[0].got('session/close')).msg.params).toEqual({ sessionId: 'duplicate' });
    expect(entries.at(-1)).toMatchObject({ verdict: 'deny' });
    agents[0].notify('session/update', { sessionId: 'duplicate', update: chunk('unheard') });
    await open(client, CWD, 'right'); // a round trip
    expect(client.agentText('duplicate')).toBe('');
  });

  const CALL = '"toolCallId":"c","title":"t","kind":"execute","status":"completed","rawInput":{"command":"rm -rf /"}';
  test.each([
    ['the update', `"update":${JSON.stringify(chunk('x'))},"update":{"sessionUpdate":"tool_call",${CALL}}`],
    ['its kind', `"update":{"sessionUpdate":"agent_message_chunk",${CALL},"sessionUpdate":"tool_call"}`],
    ['its kind, in another spelling', `"update":{"sessionUpdate":"agent_message_chunk",${CALL},"session\\u0055pdate":"tool_call"}`],
    ['its call', `"update":{"sessionUpdate":"tool_call_update","toolCallId":"other",${CALL}}`],
    ['its mode', '"update":{"sessionUpdate":"current_mode_update","currentModeId":"plan","currentModeId":"yolo"}'],
    ['its options', `"update":{"sessionUpdate":"config_option_update","configOptions":[],"configOptions":[${HIDDEN}]}`],
  ])('an update with a duplicate %s is not forwarded, and is audited', async (_, members) => {
    const { enforcement, entries } = refusing();
    const { left, client, mine } = await twoAgents(enforcement);
    update(left, 's1', members);
    update(left, 's1', members); // again, now through the template cache
    update(left, 's1', members);
    expect((await prompt(client, mine, 'behind that')).result).toEqual(end);
    expect(client.all('session/update').filter(({ line: shown }) => shown.includes(members))).toEqual([]);
    expect(client.agentText(mine)).toBe('left heard behind that');
    const lines = entries.slice(-3).map(({ method, verdict, option: done }) => [method, verdict, done]);
    expect(lines).toEqual(Array.from({ length: 3 }, () => ['session/update', 'deny', 'refused']));
  });

  test('a request that names a tool call by its id is evaluated by what the client was shown of the call', async () => {
    const { enforcement } = refusing();
    const { left, client } = await twoAgents(enforcement);
    client.on('session/request_permission', () => selected('r1'));
    const read = { kind: 'read', rawInput: { path: '/work/a' }, locations: [{ path: '/work/a' }] };
    left.notify('session/update', { sessionId: 's1', update: { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Read a', ...read } });
    update(left, 's1', `"update":{"sessionUpdate":"tool_call_update","toolCallId":"other","toolCallId":"c","title":"Remove all"}`);
    const { toolCall: __, ...asked } = execution('s1', 'x');
    expect(await left.call('session/request_permission', { ...asked, toolCall: { toolCallId: 'c' } })).toEqual(selected('a1'));
    expect(client.all('session/update').some(({ line: shown }) => shown.includes('Remove all'))).toBe(false);
  });

  test('in observe mode, everything passes unchanged', async () => {
    const { enforcement } = memoryEnforcement({ agents: { '*': { mode: { refuse: ['yolo'] } } } }, { isObserving: true });
    const { left, client, mine } = await twoAgents(enforcement);
    update(left, 's1', `"update":{"sessionUpdate":"agent_message_chunk",${CALL},"sessionUpdate":"tool_call"}`);
    expect((await prompt(client, mine, 'behind that')).result).toEqual(end);
    expect(client.all('session/update').some(({ line: shown }) => shown.includes('rm -rf /'))).toBe(true);
  });
});

test('with one agent and no policy nothing is refused: there is no other session and nothing to evaluate', async () => {
  const agents = [able('left')] as const;
  const { client } = await connection(agents);
  const { id } = await open(client, CWD);
  client.on('terminal/output', () => ({ output: 'x', truncated: false }));
  line(agents[0], `"id":"t","method":"terminal/output","params":{"sessionId":"${id}","terminalId":"a","terminalId":"b"}`);
  expect((await agents[0].until((msg) => msg.id === 't')).msg.result).toEqual({ output: 'x', truncated: false });
});
