// Which transport offers the host tools to an agent.
import { expect, test } from 'vitest';
import { chooseTransport, type McpTransportSetting, type SeenTransports } from '../../../src/mcp/server/inject-servers.ts';

const HTTP = { http: true, sse: true };

test.each<[McpTransportSetting, unknown, SeenTransports, string | undefined]>([
  ['auto', { acp: true, http: true }, {}, 'acp'],
  ['auto', { acp: {}, http: false }, {}, 'acp'],
  ['auto', HTTP, {}, 'http'],
  ['auto', { http: false }, {}, 'stdio'],
  ['auto', undefined, {}, 'stdio'],
  ['auto', null, {}, 'stdio'],
  ['auto', HTTP, { http: 'ignored' }, 'stdio'],
  ['auto', HTTP, { http: 'ignored', stdio: 'connected' }, 'stdio'],
  ['auto', HTTP, { stdio: 'connected' }, 'stdio'],
  ['auto', HTTP, { http: 'ignored', stdio: 'ignored' }, 'http'],
  ['stdio', HTTP, { stdio: 'ignored' }, 'stdio'],
  ['http', { http: false }, {}, 'http'],
  ['off', HTTP, {}, undefined],
])('setting %s with capabilities %j after %j chooses %s', (setting, capabilities, seen, expected) => {
  expect(chooseTransport(setting, capabilities, seen)).toBe(expected);
});
