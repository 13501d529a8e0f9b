// Merging the capabilities of several agents.
import { describe, expect, test } from 'vitest';
import type { Capabilities, InitializeResult } from '../../src/acp/shapes.ts';
import {
  type Answered,
  agentsWithVendor,
  BASELINE,
  mergeInitialize,
  offers,
  reopenMethods,
  withBridges,
} from '../../src/router/capabilities.ts';

const answered = (name: string, agentCapabilities: Capabilities | null | undefined, rest: Partial<InitializeResult> = {}): Answered => ({
  name,
  title: name.toUpperCase(),
  result: { protocolVersion: 1, ...(agentCapabilities !== undefined && { agentCapabilities }), ...rest },
});
const merged = (...each: readonly (Capabilities | null | undefined)[]) =>
  mergeInitialize(
    each.map((capabilities, n) => answered(`agent-${n}`, capabilities)),
    { version: '9.9.9' },
  ).agentCapabilities as Record<string, unknown>;

/** A capability object with one value at `path`. */
const having = (path: string, value: unknown): Capabilities =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Capabilities;
const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
const isPromised = (value: unknown) => value !== undefined && value !== null && value !== false;

describe('one agent is enough for', () => {
  test.each([
    ['loadSession', true],
    ['sessionCapabilities.resume', {}],
    ['sessionCapabilities.delete', {}],
    ['sessionCapabilities.fork', {}],
    ['sessionCapabilities.archive', {}],
    ['sessionCapabilities.status', {}],
    ['sessionCapabilities.title', {}],
    ['promptCapabilities.embeddedContext', true],
    ['auth.logout', {}],
    ['auth.status', {}],
  ])('%s', (path, value) => {
    expect(at(merged(having(path, value), {}), path)).toEqual(value);
    expect(at(merged({}, having(path, value)), path)).toEqual(value);
    expect(isPromised(at(merged({}, {}), path))).toBe(false);
  });

  test('an unknown session capability, with its value', () => {
    const path = 'sessionCapabilities.teleport';
    expect(at(merged({}, having(path, { range: [1, 2] })), path)).toEqual({ range: [1, 2] });
  });
});

describe('all agents must have', () => {
  test.each([
    ['sessionCapabilities.additionalDirectories', {}],
    ['sessionCapabilities.systemPrompt', {}],
    ['promptCapabilities.image', true],
    ['promptCapabilities.audio', true],
    ['mcpCapabilities.http', true],
    ['mcpCapabilities.sse', true],
  ])('%s', (path, value) => {
    const has = having(path, value);
    expect(isPromised(at(merged(has, has, has), path))).toBe(true);
    for (const lacking of [
      [has, {}],
      [{}, has],
      [has, null],
      [has, undefined],
      [has, BASELINE.agentCapabilities],
    ])
      expect(isPromised(at(merged(...lacking), path)), JSON.stringify(lacking)).toBe(false);
  });
});

describe('capabilities that are always or never offered', () => {
  test('closing a session always is: an agent without it gets a cancel instead', () => {
    expect(at(merged({}, {}), 'sessionCapabilities.close')).toEqual({});
    expect(at(merged(null, having('sessionCapabilities.close', { x: 1 })), 'sessionCapabilities.close')).toEqual({ x: 1 });
  });

  test('listing sessions always is: for an agent without it, sessions opened through the proxy are listed', () => {
    expect(at(merged({}, {}), 'sessionCapabilities.list')).toEqual({});
    expect(at(merged(null, having('sessionCapabilities.list', { x: 1 })), 'sessionCapabilities.list')).toEqual({ x: 1 });
    expect(at(merged(), 'sessionCapabilities.list')).toBeUndefined();
  });

  test('loading a session is if there are transcripts, which replace a missing capability', () => {
    const [plain] = [{ name: 'a', title: 'A', result: { protocolVersion: 1, agentCapabilities: {} } }];
    expect(mergeInitialize([plain], { version: '1', transcripts: {} }).agentCapabilities).toMatchObject({ loadSession: true });
    expect(mergeInitialize([plain], { version: '1' }).agentCapabilities).toMatchObject({ loadSession: false });
    expect(mergeInitialize([], { version: '1', transcripts: {} }).agentCapabilities).toMatchObject({ loadSession: false });
  });

  test.each([
    ['providers', { list: {} }],
    ['someFutureCapability', true],
  ])('%s never is, because nothing routes it', (path, value) => {
    const has = having(path, value);
    expect(isPromised(at(merged(has, has), path))).toBe(false);
  });

  test.each([[null], [false]])('%s means no, like a missing value', (no) => {
    const all = merged(
      {
        loadSession: no,
        sessionCapabilities: { list: no, additionalDirectories: no },
        promptCapabilities: { embeddedContext: no },
        auth: { logout: no },
      },
      { sessionCapabilities: no, promptCapabilities: no, mcpCapabilities: no, auth: no },
    );
    expect(all).toMatchObject({ loadSession: false, promptCapabilities: { image: false, audio: false, embeddedContext: false } });
    expect(all.sessionCapabilities).toEqual({ close: {}, list: {} });
    expect(all).not.toHaveProperty('auth');
  });

  test('a late agent counts with minimal capabilities and removes nothing for which one agent is enough', () => {
    const rich = { loadSession: true, promptCapabilities: { image: true, embeddedContext: true }, sessionCapabilities: { list: {} } };
    expect(merged(rich, BASELINE.agentCapabilities)).toMatchObject({
      loadSession: true,
      promptCapabilities: { image: false, embeddedContext: true },
      sessionCapabilities: { list: {} },
    });
  });

  test('without agents nothing is offered', () => {
    expect(merged()).toMatchObject({
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: false },
      mcpCapabilities: { http: false, sse: false },
    });
  });
});

describe('vendor extensions', () => {
  const agents = [
    answered(
      'one',
      { _meta: { acme: { fast: true } }, sessionCapabilities: { _meta: { acme: 1 } }, auth: { _meta: { acme: 1 }, logout: {} } },
      {
        agentInfo: { name: 'one', version: '1.2.3' },
      },
    ),
    answered('two', { _meta: { other: 1 } }),
  ];

  test('are listed under their agent instead of merged', () => {
    const { agentCapabilities } = mergeInitialize(agents, { version: '9.9.9' });
    expect(agentCapabilities?._meta).toEqual({
      'acp-switchboard': {
        agents: {
          one: { title: 'ONE', version: '1.2.3', _meta: { acme: { fast: true } } },
          two: { title: 'TWO', _meta: { other: 1 } },
        },
      },
    });
    expect(agentCapabilities?.sessionCapabilities).not.toHaveProperty('_meta');
    expect(agentCapabilities?.auth).toEqual({ logout: {} });
  });

  test('determine which agents get a vendor method', () => {
    expect(agentsWithVendor(agents, 'acme')).toEqual(['one']);
    expect(agentsWithVendor(agents, 'constructor')).toEqual([]);
    expect(agentsWithVendor([answered('bare', null)], 'acme')).toEqual([]);
  });
});

test('the answer has our name and version, and protocol version 1', () => {
  expect(mergeInitialize([answered('one', {}, { agentInfo: { name: 'one', version: '1' } })], { version: '9.9.9' })).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'acp-switchboard', version: '9.9.9' },
  });
});

test('authentication methods of all agents are listed with their agent', () => {
  const { authMethods } = mergeInitialize(
    [
      answered('one', {}, { authMethods: [{ id: 'key', name: 'API key' }] }),
      answered('two', {}, { authMethods: null }),
      answered('three', {}, { authMethods: [{ id: 'key', name: 'Login', description: 'd' }] }),
    ],
    { version: '0' },
  );
  expect(authMethods).toEqual([
    { id: 'one/key', name: 'ONE: API key' },
    { id: 'three/key', name: 'THREE: Login', description: 'd' },
  ]);
});

describe('whether an agent offers a capability', () => {
  const result: InitializeResult = {
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: null, close: false } },
  };
  test.each([
    [['loadSession'], true],
    [['sessionCapabilities', 'list'], true],
    [['sessionCapabilities', 'resume'], false],
    [['sessionCapabilities', 'close'], false],
    [['sessionCapabilities', 'fork'], false],
    [['nothing', 'of', 'the', 'kind'], false],
  ])('%j: %s', (path, expected) => {
    expect(offers(result, ...path)).toBe(expected);
  });

  test('an agent that has not answered offers nothing', () => {
    expect(offers(undefined, 'loadSession')).toBe(false);
    expect(offers({ protocolVersion: 1, agentCapabilities: null }, 'loadSession')).toBe(false);
  });
});

describe('MCP servers inside the client', () => {
  const servers = (...agents: readonly Answered[]) => mergeInitialize(agents, { version: '1' }).agentCapabilities?.mcpCapabilities;
  const able = answered('able', { mcpCapabilities: { http: true, sse: true, acp: true } });
  const plain = answered('plain', {});

  test('are offered if every agent reaches them', () => {
    expect(servers(able, able)).toEqual({ http: true, sse: true, acp: true });
    expect(servers(able, plain)).toEqual({ http: false, sse: false });
  });

  test('are offered for an agent that the switchboard bridges, whatever the agent itself reaches', () => {
    expect(servers(able, { ...plain, hasBridges: true })).toEqual({ http: true, sse: true, acp: true });
    expect(servers({ ...plain, hasBridges: true })).toEqual({ http: true, sse: true, acp: true });
    expect(servers({ ...plain, hasBridges: false })).toEqual({ http: false, sse: false });
  });

  test('join what an agent already announces', () => {
    expect(withBridges({ http: false, odd: 1 })).toEqual({ http: true, sse: true, acp: true, odd: 1 });
    expect(withBridges(undefined)).toEqual({ http: true, sse: true, acp: true });
  });
});

describe('how an agent can reopen a session', () => {
  const loads = { loadSession: true };
  const resumes = { sessionCapabilities: { resume: {} } };
  test.each([
    ['nothing', {}, [], []],
    ['a load', loads, ['session/load'], ['session/load']],
    ['a resume', resumes, ['session/resume'], ['session/resume']],
    ['both', { ...loads, ...resumes }, ['session/load'], ['session/resume', 'session/load']],
  ] as const)('with %s', (_, capabilities, forLoad, forResume) => {
    const { result } = answered('agent', capabilities);
    expect(reopenMethods(result, 'session/load')).toEqual(forLoad);
    expect(reopenMethods(result, 'session/resume')).toEqual(forResume);
  });

  test('is unknown before it has answered initialize', () => {
    expect(reopenMethods(undefined, 'session/resume')).toEqual([]);
  });
});

test('an agent that answers initialize too late is promised nothing, and no way to authenticate', () => {
  expect(BASELINE).toEqual({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] });
});

test('an agent without vendor extensions is described without any', () => {
  const { _meta } = merged({}) as { _meta: Record<string, { agents: Record<string, object> }> };
  expect(_meta['acp-switchboard']?.agents['agent-0']).toEqual({ title: 'AGENT-0' });
  expect(Object.keys(_meta['acp-switchboard']?.agents['agent-0'] ?? {})).toEqual(['title']);
});
