// Logins of several agents on one connection.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { choosing, fixture, hello, type Json, open, Refusal, type Stage, SWITCHBOARD, testAtOnce as test, UNANSWERED } from './harness.ts';

const LOGIN = { id: 'login', name: 'Log in', description: 'with a key', _meta: { vendor: 1 } };

/** An agent that opens no session before a login. */
function locked(stage: Stage, name: string, auth: Json = {}) {
  const agent = stage.agent(name, { authMethods: [LOGIN, { id: 'a/b', name: 'Odd' }], capabilities: { auth }, title: `${name}!` });
  let isIn = false;
  agent.on('authenticate', ({ methodId }) => {
    if (methodId !== 'login' && methodId !== 'a/b') throw new Refusal(-32602, 'no such method', { methodId });
    isIn = true;
  });
  agent.on('logout', () => {
    isIn = false;
  });
  agent.on('session/new', () => {
    if (!isIn) throw new Refusal(-32000, 'Authentication required', { own: true });
    return { sessionId: `${name}-in` };
  });
  return agent;
}

test('methods of several agents are prefixed with their agents, otherwise unchanged, and mapped back', async ({ stage }) => {
  const [left, right] = [locked(stage, 'left'), locked(stage, 'right')];
  const client = stage.proxy([left, right]);
  const { authMethods } = await hello(client);
  expect(authMethods.map(({ id }: Json) => id)).toEqual(['left/login', 'left/a/b', 'right/login', 'right/a/b']);
  expect(authMethods[2]).toMatchObject({ name: expect.stringContaining('right!'), description: 'with a key', _meta: { vendor: 1 } });
  expect(await client.call('authenticate', { methodId: 'right/login', _meta: { k: 1 } })).toEqual({});
  expect((await right.got('authenticate')).msg.params).toEqual({ methodId: 'login', _meta: { k: 1 } });
  expect(left.all('authenticate')).toEqual([]);
  expect((await open(client, stage.cwd, 'right')).id).toBe('right-in');
  await client.call('authenticate', { methodId: 'left/a/b' }); // an id may contain a slash, an agent's name may not
  expect((await left.got('authenticate')).msg.params).toEqual({ methodId: 'a/b' });
});

test('an unknown method is -32602 and lists the known ones', async ({ stage }) => {
  const client = await stage.connect([locked(stage, 'left'), locked(stage, 'right')]);
  for (const methodId of ['login', 'nobody/login', '', '/login']) {
    const error = await client.refused('authenticate', { methodId });
    expect(error, methodId).toMatchObject({ code: -32602, message: expect.stringContaining('right/login') });
  }
  expect(await client.refused('authenticate', { methodId: 'left/none' })).toMatchObject({ code: -32602, message: 'no such method' });
});

test('-32000 passes with the agent’s own message, and the agent and its methods are added to its data', async ({ stage }) => {
  const client = await stage.connect([locked(stage, 'left'), locked(stage, 'right')]);
  expect(await client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing('right') })).toEqual({
    code: -32000,
    message: 'Authentication required',
    data: { own: true, agent: 'right', authMethods: ['right/login', 'right/a/b'] },
  });
});

test('-32000 names the agent whatever data it has, also on a prompt', async ({ stage }) => {
  const right = stage.agent('right');
  const client = await stage.connect([stage.agent('left'), right]);
  const { id: sessionId } = await open(client, stage.cwd, 'right');
  for (const error of [
    '{"code":-32000,"message":"m"}',
    '{"code":-32000,"message":"m","data":null}',
    '{"message":"m","data":{},"code":-32000}',
  ]) {
    right.on('session/prompt', (_, msg) => {
      right.line(`{"jsonrpc":"2.0","id":${msg.id},"error":${error}}`);
      return UNANSWERED;
    });
    const refused = await client.refused('session/prompt', { sessionId, prompt: [] });
    expect(refused, error).toMatchObject({ code: -32000, message: 'm', data: { agent: 'right' } });
  }
});

test('with one agent its methods keep their ids, also in -32000', async ({ stage }) => {
  const client = stage.proxy([locked(stage, 'only')]);
  expect((await hello(client)).authMethods).toEqual([LOGIN, { id: 'a/b', name: 'Odd' }]);
  expect(await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).toEqual({
    code: -32000,
    message: 'Authentication required',
    data: { agent: 'only', authMethods: ['login', 'a/b'], own: true },
  });
  await client.call('authenticate', { methodId: 'login' });
  expect((await open(client, stage.cwd)).id).toBe('only-in');
});

describe('a login in a terminal', () => {
  test.for([['one agent'], ['two agents']] as const)(
    'with %s: our command with the method’s arguments starts the agent with its own',
    async ([many], { stage }) => {
      const file = path.join(stage.dir, 'login.json');
      const server = { ...fixture('login', file), env: { AGENT_OWN: 'kept' } };
      const agents = many === 'one agent' ? { shell: server } : { other: stage.agent('other'), shell: server };
      const { authMethods } = await hello(stage.proxy(agents));
      const method = authMethods.find(({ type }: Json) => type === 'terminal');
      expect(method).toMatchObject({ id: many === 'one agent' ? 'tty' : 'shell/tty', env: { LOGIN_HINT: 'from the method' } });

      // As a client would: the command it has for us, plus the method's arguments and environment.
      const terminal = stage.proxy(agents, { args: method.args, env: method.env });
      expect(await terminal.ended).toBe(3);
      expect(terminal.stderr()).toBe('');
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
        args: ['login', '--with space', '--'],
        LOGIN_HINT: 'from the method',
        AGENT_OWN: 'kept',
        cwd: stage.cwd,
      });
    },
  );

  test('is not what authenticate is for: among several agents it is refused, and the agent gets no request', async ({ stage }) => {
    const shell = stage.agent('shell', { authMethods: [{ type: 'terminal', id: 'tty', name: 'T', args: ['login'] }] });
    shell.on('authenticate', () => ({}));
    const client = await stage.connect([shell, stage.agent('other')]);
    expect(await client.refused('authenticate', { methodId: 'shell/tty' })).toMatchObject({ code: -32602 });
    expect(shell.all('authenticate')).toEqual([]);
  });

  test('the bare command does the same', async ({ stage }) => {
    const file = path.join(stage.dir, 'login.json');
    const config = stage.writeConfig({ shell: fixture('login', file) });
    const terminal = stage.run(process.execPath, [SWITCHBOARD, '--config', config, '--auth', 'shell', '--', 'login']);
    expect(await terminal.ended).toBe(3);
    expect(JSON.parse(readFileSync(file, 'utf8')).args).toEqual(['login']);
  });

  test('of an unknown agent, or one whose command is missing, fails with a code and a hint', async ({ stage }) => {
    const agents = { shell: fixture('login', '/x'), gone: { command: '/no/such/program' } };
    const unknown = stage.proxy(agents, { args: ['--auth', 'nobody', '--', 'login'] });
    expect(await unknown.ended).toBe(4);
    expect(unknown.stderr()).toContain('nobody');
    const missing = stage.proxy(agents, { args: ['--auth', 'gone', '--', 'login'] });
    expect(await missing.ended).toBe(7);
    expect(missing.stderr()).toContain('gone');
  });
});

describe('logout', () => {
  test('reaches every agent that offers it, and no other', async ({ stage }) => {
    const [left, right, none] = [locked(stage, 'left', { logout: {} }), locked(stage, 'right', { logout: {} }), stage.agent('none')];
    const client = stage.proxy([left, right, none]);
    expect((await hello(client)).agentCapabilities.auth).toEqual({ logout: {} });
    expect(await client.call('logout', {})).toEqual({});
    expect([left, right, none].map((agent) => agent.all('logout').length)).toEqual([1, 1, 0]);
  });

  test('that fails at one agent names that agent, after all others have received it', async ({ stage }) => {
    const [left, right] = [locked(stage, 'left', { logout: {} }), locked(stage, 'right', { logout: {} })];
    left.on('logout', () => {
      throw new Refusal(-32603, 'keyring is locked');
    });
    const client = await stage.connect([left, right]);
    const error = await client.refused('logout', {});
    expect(error).toMatchObject({ message: expect.stringContaining('keyring is locked'), data: { agents: ['left'] } });
    expect(error.message).not.toContain('right');
    expect(right.all('logout')).toHaveLength(1);
  });

  test('that no agent offers is -32601', async ({ stage }) => {
    const client = await stage.connect([stage.agent('left'), stage.agent('right')]);
    expect((await client.refused('logout', {})).code).toBe(-32601);
  });
});

describe('auth/status', () => {
  const withStatus = (stage: Stage, name: string, status: Json) => {
    const agent = stage.agent(name, { capabilities: { auth: { status: {} } }, title: name.toUpperCase() });
    agent.on('auth/status', () => {
      if (status === undefined) throw new Refusal(-32603, 'no idea');
      return status;
    });
    return agent;
  };

  test('is unauthenticated if any agent is, and shows whose each account is', async ({ stage }) => {
    const agents = [
      withStatus(stage, 'left', { state: 'authenticated', accounts: [{ label: 'me', active: true, email: 'me@example.org' }] }),
      withStatus(stage, 'right', { state: 'unauthenticated' }),
      stage.agent('none'),
    ];
    const client = await stage.connect(agents);
    const status = await client.call('auth/status', {});
    expect(status.state).toBe('unauthenticated');
    expect(status.accounts).toEqual([{ label: expect.stringMatching(/left.*me/i), active: true, email: 'me@example.org' }]);
    expect(agents[2]?.all('auth/status')).toEqual([]);
  });

  test.for([
    ['authenticated', [{ state: 'authenticated' }, { state: 'not_required' }]],
    ['not_required', [{ state: 'not_required' }, { state: 'not_required' }]],
    ['unknown', [{ state: 'authenticated' }, undefined]],
  ] as const)('is %s when nothing else is known, and never an error', async ([state, answers], { stage }) => {
    const client = await stage.connect(answers.map((answer, n) => withStatus(stage, `agent${n}`, answer)));
    expect(await client.call('auth/status', {})).toEqual({ state });
  });
});
