// A single bridge, whose server leaves a trace when it starts.
import { expect, test } from 'vitest';
import { createBridge } from '../../../src/mcp/bridge/bridge.ts';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const OPENINGS = {
  'the 2025 era': {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  },
  'the 2026 era': { method: 'tools/list', params: { _meta: META } },
};

test.each(Object.entries(OPENINGS))('a request of %s accepted just before the bridge closes starts no server', async (_, opening) => {
  const started: number[] = [];
  const bridge = createBridge(
    { kind: 'stdio', name: 'late', command: process.execPath, args: ['--version'], env: {} },
    {
      cwd: undefined,
      askClient: () => () => {},
      children: { mark: 'm', started: (pid) => void started.push(pid) },
      mayCall: async () => ({ allow: true }),
      exposes: () => true,
      onEnding: () => {},
      onDied: (server) => expect.unreachable(server),
    },
  );
  const handle = await bridge.serveHttp();
  bridge.revoke();
  const body = { jsonrpc: '2.0', id: 1, ...opening };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...('_meta' in opening.params && { 'mcp-protocol-version': '2026-07-28' }),
  };
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
  // Nobody is left to answer. What counts is that no process stays.
  const answered = await handle(request, body).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  expect([502, 'the session has ended']).toContain(answered);
  expect(started).toEqual([]);
});
