// Path fields change between the two sides, and no other byte does.
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { mapPaths } from '../../../src/proxy/agents/map-paths.ts';

function both(map: Readonly<Record<string, string>>) {
  const events = Object.assign(new EventEmitter(), { pause() {}, resume() {} });
  const sent = new PassThrough();
  const received: Buffer[] = [];
  const { fromAgent, toAgent } = mapPaths({ fromAgent: events, toAgent: sent }, map, 'far');
  fromAgent.on('data', (chunk) => received.push(chunk));
  return {
    toAgent(line: string): string {
      toAgent.write(Buffer.from(`${line}\n`));
      return String(sent.read() ?? '').trimEnd();
    },
    fromAgent(line: string): string {
      events.emit('data', Buffer.from(`${line}\n`));
      return Buffer.concat(received.splice(0)).toString().trimEnd();
    },
    answered: async () => {
      await new Promise(setImmediate);
      return JSON.parse(Buffer.concat(received.splice(0)).toString());
    },
    sent: () => JSON.parse(String(sent.read())),
  };
}
const frame = (method: string, params: string, id = '7') => `{"id" : ${id}, "method":"${method}","params":${params}, "x":1.0}`;

test.each([
  [
    'session/new',
    '{"cwd": "/home/me/a", "additionalDirectories":["/home/me"], "n":18014398509481985}',
    '{"cwd": "/srv/a", "additionalDirectories":["/srv"], "n":18014398509481985}',
  ],
  ['session/load', String.raw`{"sessionId":"/home/me","cwd":"\/home\/me\/b"}`, '{"sessionId":"/home/me","cwd":"/srv/b"}'],
  [
    'session/prompt',
    '{"prompt":[{"type":"text","text":"/home/me"},{"uri":"file:///home/me/a%20b"},{"resource":{"uri":"file:///home/me/c"}}]}',
    '{"prompt":[{"type":"text","text":"/home/me"},{"uri":"file:///srv/a%20b"},{"resource":{"uri":"file:///srv/c"}}]}',
  ],
  ['session/new', '{"cwd":"/home/me/deep/x"}', '{"cwd":"/other/x"}'],
  ['_x/y', '{"cwd":"/home/me"}', '{"cwd":"/home/me"}'],
])('to the agent, %s %s', (method, given, wanted) => {
  const { toAgent } = both({ '/home/me': '/srv', '/home/me/deep/': '/other/' });
  expect(toAgent(frame(method, given))).toBe(frame(method, wanted));
});

test.each([
  ['fs/read_text_file', '{"path":"/srv/a","line":1}', '{"path":"/home/me/a","line":1}'],
  ['fs/writeTextFile', '{"path":"/srv/a"}', '{"path":"/home/me/a"}'],
  ['terminal/create', '{"command":"/srv/x","cwd":"/srv"}', '{"command":"/srv/x","cwd":"/home/me"}'],
  [
    'session/update',
    '{"update":{"locations":[{"path":"/srv/a"},{"path":"/usr/x"}],"content":[{"type":"diff","path":"/srv/b","newText":"/srv"}]}}',
    '{"update":{"locations":[{"path":"/home/me/a"},{"path":"/usr/x"}],"content":[{"type":"diff","path":"/home/me/b","newText":"/srv"}]}}',
  ],
  [
    'session/update',
    '{"update":{"content":{"type":"resource_link","uri":"file:///srv/a"}}}',
    '{"update":{"content":{"type":"resource_link","uri":"file:///home/me/a"}}}',
  ],
  [
    'session/request_permission',
    '{"toolCall":{"locations":[{"path":"/srv/a"}],"rawInput":{"path":"/srv/a"}}}',
    '{"toolCall":{"locations":[{"path":"/home/me/a"}],"rawInput":{"path":"/srv/a"}}}',
  ],
])('from the agent, %s %s', (method, given, wanted) => {
  const { fromAgent } = both({ '/home/me': '/srv' });
  expect(fromAgent(frame(method, given))).toBe(frame(method, wanted));
});

test('the directories in the answer to session/list change, and those of other answers do not', () => {
  const { toAgent, fromAgent } = both({ '/home/me': '/srv' });
  toAgent(frame('session/list', '{}', '"a"'));
  expect(fromAgent('{"id":"b","result":{"sessions":[{"cwd":"/srv"}]}}')).toBe('{"id":"b","result":{"sessions":[{"cwd":"/srv"}]}}');
  expect(fromAgent('{"id":"a","result":{"sessions":[{"cwd":"/srv"}]}}')).toBe('{"id":"a","result":{"sessions":[{"cwd":"/home/me"}]}}');
});

describe('a request that acts on a path without a counterpart', () => {
  test.each([
    ['fs/read_text_file', '{"path":"/etc/passwd"}'],
    ['fs/read_text_file', '{"path":"/srv/../etc/passwd"}'],
    ['fs/read_text_file', '{"path":"/srv-other/a"}'],
    ['fs/write_text_file', '{"path":"/srv/a","path":"/etc/passwd"}'],
    ['terminal/create', '{"command":"ls","cwd":"/etc"}'],
  ])('from the agent is refused: %s %s', (method, params) => {
    const { fromAgent, sent } = both({ '/home/me': '/srv' });
    expect(fromAgent(frame(method, params))).toBe('');
    expect(sent()).toMatchObject({ id: 7, error: { code: -32602, message: expect.stringContaining('agent_servers.far.files') } });
  });

  test('of an unknown method for files is refused', () => {
    const { fromAgent, sent } = both({ '/home/me': '/srv' });
    expect(fromAgent(frame('fs/delete', '{"file":"/home/me/a"}'))).toBe('');
    expect(sent()).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  test('to the agent is refused', async () => {
    const { toAgent, answered } = both({ '/home/me': '/srv' });
    expect(toAgent(frame('session/new', '{"cwd":"/var"}'))).toBe('');
    expect(await answered()).toMatchObject({
      id: 7,
      error: {
        code: -32602,
        message:
          'Invalid params for "session/new": "/var" is outside the directories that remote agent "far" shares; see agent_servers.far.files',
      },
    });
  });
});
