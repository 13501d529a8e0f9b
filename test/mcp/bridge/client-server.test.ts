// Which of the client's MCP servers are bridged, and how.
import { describe, expect, test } from 'vitest';
import { bridgeFor, type ClientServer, isBridged, readServer } from '../../../src/mcp/bridge/client-server.ts';

const AGENT = { mcpCapabilities: { http: false, sse: false }, setting: 'auto', seen: {}, agentName: undefined } as const;
const takesHttp = { ...AGENT, mcpCapabilities: { http: true } };
const server = (kind: string) => ({ kind, name: 's' }) as ClientServer;

describe('the transport of a bridge', () => {
  test.each([
    ['stdio is for every agent', 'stdio', AGENT, undefined],
    ['http as it is, for who takes it', 'http', takesHttp, undefined],
    ['http over stdio', 'http', AGENT, 'stdio'],
    ['sse over http, since who takes http may drop stdio', 'sse', takesHttp, 'http'],
    ['sse as it is', 'sse', { ...AGENT, mcpCapabilities: { sse: true } }, undefined],
    ['acp over stdio', 'acp', AGENT, 'stdio'],
    ['acp over http', 'acp', takesHttp, 'http'],
    ['acp as it is', 'acp', { ...AGENT, mcpCapabilities: { acp: {} } }, undefined],
    ['nothing is known of an agent that was too late', 'http', { ...AGENT, mcpCapabilities: undefined }, 'stdio'],
    ['stdio over http, where the user says so', 'stdio', { ...takesHttp, setting: 'http' as const }, 'http'],
    ['stdio over http, where stdio was ignored', 'stdio', { ...takesHttp, seen: { stdio: 'ignored' as const } }, 'http'],
    ['stdio over http, for one that is known to drop it', 'stdio', { ...takesHttp, agentName: 'Copilot' }, 'http'],
    ['stdio as it is, when there is no other way', 'stdio', { ...AGENT, seen: { stdio: 'ignored' as const } }, undefined],
    ['stdio where http was ignored', 'acp', { ...takesHttp, seen: { http: 'ignored' as const } }, 'stdio'],
    ['stdio where the user says so', 'sse', { ...takesHttp, setting: 'stdio' as const }, 'stdio'],
  ] as const)('%s', (_, kind, agent, way) => {
    expect(bridgeFor(server(kind), agent)).toBe(way);
  });
});

test('bridges are for one of several agents, unless the user sets otherwise', () => {
  expect(isBridged('auto', false)).toBe(true);
  expect(isBridged('auto', true)).toBe(false);
  expect(isBridged('on', true)).toBe(true);
  expect(isBridged('off', false)).toBe(false);
});

test.each([
  null,
  'text',
  {},
  { name: 's' },
  { name: 's', command: 'x' },
  { name: 's', command: 'x', args: [1], env: [] },
  { name: 's', command: 'x', args: [], env: { KEY: 'a map' } },
  { name: 's', type: 'http', url: 'not an address', headers: [] },
  { name: 's', type: 'http', url: 'http://x', headers: [{ name: 'a' }] },
  { name: 's', type: 'acp', id: 'of an older draft' },
  { name: 's', type: 'carrier pigeon' },
])('an entry that cannot be read exactly is left to the agent: %j', (entry) => {
  expect(readServer(entry)).toBeUndefined();
});
