// What a page may send with a new session: remote servers, never a program.
import { expect, test } from 'vitest';
import { sessionActions } from '../../../src/console/actions/sessions.ts';

const { params } = sessionActions({} as never).new;
const server = { type: 'http', name: 'docs', url: 'https://example.com/mcp', headers: [{ name: 'Authorization', value: 'Bearer x' }] };
const takes = (given: object) => params.safeParse({ mcpServers: [given] }).success;

test('a server with a URL is accepted', () => {
  expect(takes(server)).toBe(true);
  expect(takes({ ...server, type: 'sse', headers: [] })).toBe(true);
});

test.each<[string, object]>([
  ['a program', { name: 'sh', command: 'sh', args: ['-c', 'id'], env: [] }],
  ['a program with a type', { type: 'stdio', name: 'sh', command: 'sh', args: [], env: [] }],
  ['a program next to a URL', { ...server, command: 'sh' }],
  ['a server behind our own connection', { type: 'acp', name: 'x', serverId: 'x' }],
  ['another kind of address', { ...server, url: 'file:///etc/passwd' }],
  ['no address', { ...server, url: 'example' }],
  ['two headers in one', { ...server, headers: [{ name: 'A', value: 'x\r\nB: y' }] }],
  ['a header whose name is none', { ...server, headers: [{ name: 'A: b', value: 'x' }] }],
  ['no name', { ...server, name: '' }],
])('%s is rejected', (_, given) => {
  expect(takes(given)).toBe(false);
});
