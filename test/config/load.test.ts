// Loading a configuration: defaults, values and order.
import { expect, expectTypeOf, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { Limits } from '../../src/wire/frame.ts';
import { createSandbox } from './sandbox.ts';

test('a missing key has its default', async () => {
  const { config } = await createSandbox().loadFile({ agent_servers: { b: { command: 'b-agent' }, a: { command: 'a-agent' } } });
  const rest = {
    args: [],
    env: {},
    inheritEnv: 'all',
    withheldEnv: [],
    timeouts: { initializeMs: 30_000, cancelMs: 10_000, stopGraceMs: 3_000, stallMs: 60_000, quietMs: 5_000, promptMs: 0, permissionMs: 0 },
    framing: 'auto',
    dialect: 'auto',
    onStall: 'notice',
    isolation: 'auto',
    mcpTransport: 'auto',
    mcpBridge: 'auto',
    restart: { enabled: true, max: 5, windowS: 60 },
    unsupportedContent: 'refuse',
    coalescePlansMs: 0,
    maxLineBytes: 1_048_576,
  };
  expect(config).toStrictEqual({
    agents: [
      { name: 'b', command: 'b-agent', ...rest },
      { name: 'a', command: 'a-agent', ...rest },
    ],
    defaultAgent: 'b',
    explicitDefault: false,
    routes: [],
    policies: [],
    limits: { maxFrameBytes: 33_554_432, maxQueueBytes: 67_108_864 },
    initializeWaitMs: 10_000,
    workspace: 'off',
    logging: {
      ...{ level: 'info', file: undefined, frames: 'metadata' },
      ...{ maxFileBytes: 16_777_216, maxTotalBytes: 134_217_728, maxAgeDays: 14 },
      redact: { patterns: [], variables: [] },
    },
    store: { transcripts: true, maxAgeDays: 90, maxTotalBytes: 1_073_741_824 },
    telemetry: { traces: undefined, metrics: true },
    hostTools: {
      enabled: true,
      files: true,
      terminal: true,
      without: [],
      askUser: true,
      delegate: false,
      redactResults: false,
      commands: [],
      modules: [],
    },
    mcpServers: [],
    network: { allowCwd: undefined, allowsStdioServers: false, origins: [], hosts: [], offersAttach: false, detachGraceMs: 900_000 },
    webApp: { allowsCommands: false, allowsTerminals: false },
    secretVariables: [],
  });
});

test('log settings are kept, and an invalid pattern is reported', async () => {
  const agent_servers = { a: { command: 'a' } };
  const { config } = await createSandbox().loadFile({
    agent_servers,
    log: { frames: 'off', level: 'warn', redact: { patterns: ['EMP-[0-9]+'], variables: ['X'] } },
  });
  expect(config.logging).toMatchObject({ frames: 'off', level: 'warn', redact: { patterns: ['EMP-[0-9]+'], variables: ['X'] } });
  const wrong = createSandbox().loadFile({ agent_servers, log: { redact: { patterns: ['fine', '(?<=x)y'] } } });
  await expect(wrong).rejects.toThrow(/log\.redact\.patterns\[1\]: expected a pattern in RE2 syntax/);
});

test('all settings of a file are kept', async () => {
  const { config } = await createSandbox().loadFile({
    $schema: 'x',
    agent_servers: {
      first: { command: 'one' },
      full: {
        type: 'custom',
        command: 'two',
        args: ['--acp', ''],
        env: { A: '1' },
        inherit_env: ['EDITOR'],
        cwd: '/opt',
        label: 'Full',
        enabled: true,
        framing: 'content-length',
        dialect: 'webapp',
        isolation: 'session',
        mcp_transport: 'stdio',
        mcp_bridge: 'on',
        on_stall: 'cancel',
        timeouts: { initialize_ms: 1, cancel_ms: 2, stop_grace_ms: 3, stall_ms: 0, quiet_ms: 4, prompt_ms: 5, permission_ms: 6 },
        restart: { enabled: false, max: 0, window_s: 6 },
      },
    },
    default_agent: 'full',
    routes: [{ cwd: '/projects/**', agent: 'first' }],
    limits: { max_frame_bytes: 7, max_queue_bytes: 8 },
    timeouts: { initialize_wait_ms: 9 },
    workspace: 'serve-missing',
    host_tools: { enabled: false, commands: [{ name: 'one', description: 'd', command: 'c', timeout_ms: 5 }] },
    mcp_servers: [
      { name: 'docs', command: 'docs-mcp', env: { A: '1' } },
      { name: 'web', url: 'https://h/mcp', expose: 'direct' },
    ],
  });
  expect(config.agents[1]).toStrictEqual({
    name: 'full',
    command: 'two',
    args: ['--acp', ''],
    env: { A: '1' },
    inheritEnv: ['EDITOR'],
    withheldEnv: [],
    cwd: '/opt',
    label: 'Full',
    timeouts: { initializeMs: 1, cancelMs: 2, stopGraceMs: 3, stallMs: 0, quietMs: 4, promptMs: 5, permissionMs: 6 },
    framing: 'content-length',
    dialect: 'webapp',
    onStall: 'cancel',
    isolation: 'session',
    mcpTransport: 'stdio',
    mcpBridge: 'on',
    restart: { enabled: false, max: 0, windowS: 6 },
    unsupportedContent: 'refuse',
    coalescePlansMs: 0,
    maxLineBytes: 1_048_576,
  });
  expect(config).toMatchObject({
    defaultAgent: 'full',
    explicitDefault: true,
    routes: [{ cwd: '/projects/**', agent: 'first' }],
    limits: { maxFrameBytes: 7, maxQueueBytes: 8 },
    initializeWaitMs: 9,
    workspace: 'serve-missing',
    hostTools: { enabled: false, files: true, commands: [{ name: 'one', command: 'c', args: [], timeoutMs: 5 }] },
    mcpServers: [
      { name: 'docs', expose: 'gateway', at: { command: 'docs-mcp', args: [], env: { A: '1' } } },
      { name: 'web', expose: 'direct', at: { url: 'https://h/mcp', headers: {} } },
    ],
  });
});

test('a disabled agent is left out, and the first enabled agent becomes the default', async () => {
  const { config } = await createSandbox().loadFile({
    agent_servers: { off: { command: 'x', enabled: false }, on: { command: 'y' } },
  });
  expect(config.agents.map(({ name }) => name)).toEqual(['on']);
  expect(config.defaultAgent).toBe('on');
});

test('agents keep their order, even if their names look like numbers', async () => {
  const { config } = await createSandbox().loadFile('{"agent_servers": {"z": {"command": "z"}, "1": {"command": "one"}}}');
  expect(config.agents.map(({ name }) => name)).toEqual(['z', '1']);
  expect(config.defaultAgent).toBe('z');
});

test('a byte order mark is ignored', async () => {
  const { config } = await createSandbox().loadFile('\uFEFF{"agent_servers": {"x": {"command": "x"}}}');
  expect(config.defaultAgent).toBe('x');
});

test('the limits have the type that wire expects, although neither folder imports the other', () => {
  expectTypeOf<Config['limits']>().toEqualTypeOf<Limits>();
});
