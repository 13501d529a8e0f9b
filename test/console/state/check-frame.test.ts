// Frames checked against the ACP schema.
import { describe, expect, test } from 'vitest';
import { checkFrame } from '../../../src/console/state/check-frame.ts';

const asked = (method: string) => ({ dir: 'fromEditor', kind: 'request', method });
const checkUpdate = (update: unknown) =>
  checkFrame({ dir: 'fromAgent', kind: 'notification', method: 'session/update' }, { jsonrpc: '2.0', params: { sessionId: 's', update } });
const request = (method: string, params: unknown) => checkFrame(asked(method), { jsonrpc: '2.0', id: 1, method, params });

describe('a valid frame', () => {
  test.each([
    ['session/prompt', 'PromptRequest', { sessionId: 's', prompt: [{ type: 'text', text: 'hello' }] }],
    ['initialize', 'InitializeRequest', { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true } }, _meta: { any: 1 } }],
    [
      'session/new',
      'NewSessionRequest',
      { cwd: '/', mcpServers: [{ name: 'x', command: 'x', args: [], env: [{ name: 'A', value: '1' }] }] },
    ],
    ['session/fork', 'ForkSessionRequest', { sessionId: 's', cwd: '/', mcpServers: [] }],
  ])('%s matches %s', async (method, name, params) => {
    expect(await request(method, params)).toEqual({ name, problems: [] });
  });

  test('a response is checked against the schema of its request', async () => {
    const about = { dir: 'fromAgent', kind: 'response', method: 'session/prompt' };
    expect(await checkFrame(about, { jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } })).toEqual({
      name: 'PromptResponse',
      problems: [],
    });
    expect((await checkFrame(about, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } })).problems).toEqual([]);
  });

  test('redacted values are not checked', async () => {
    const { problems } = await checkUpdate({ sessionUpdate: 'usage_update', used: '[redacted]', size: 10 });
    expect(problems).toEqual([]);
  });
});

describe('an invalid frame is reported with the place of the problem', () => {
  test.each([
    ['session/prompt', { sessionId: 's' }, 'params.prompt', 'is missing'],
    ['session/prompt', { sessionId: 5, prompt: [] }, 'params.sessionId', 'is 5, and must be string'],
    ['session/prompt', { sessionId: 's', prompt: [{ type: 'text' }] }, 'params.prompt[0].text', 'is missing'],
    [
      'session/prompt',
      { sessionId: 's', prompt: [{ type: 'video' }] },
      'params.prompt[0].type',
      'is "video", and must be one of text, image, audio, resource_link, resource',
    ],
    ['initialize', { protocolVersion: -1 }, 'params.protocolVersion', 'is -1, and must be at least 0'],
    ['session/prompt', undefined, 'params', 'is missing'],
  ])('%s with %o', async (method, params, at, what) => {
    const { problems } = await request(method, params);
    expect(problems).toContainEqual({ at, what, isTolerated: false });
  });

  test('an update of an unknown kind', async () => {
    const { problems } = await checkUpdate({ sessionUpdate: 'dance' });
    expect(problems).toMatchObject([{ at: 'params.update.sessionUpdate', isTolerated: false }]);
    expect(problems[0]?.what).toMatch(/^is "dance", and must be one of user_message_chunk, agent_message_chunk/);
  });

  test('a value that readers must ignore is distinguished from one that they must not', async () => {
    const { problems } = await checkUpdate({ sessionUpdate: 'tool_call', toolCallId: 't', kind: 'juggle' });
    expect(problems).toContainEqual({ at: 'params.update.title', what: 'is missing', isTolerated: false });
    expect(problems).toContainEqual(expect.objectContaining({ at: 'params.update.kind', isTolerated: true }));
  });

  test('an unknown method, a wrong direction and an extension have no schema', async () => {
    expect((await request('session/dance', {})).why).toBe('session/dance is not an ACP method');
    expect((await request('session/update', {})).why).toBe('ACP does not define session/update for this kind and direction');
    expect((await request('_zed/x', {})).why).toContain('an extension method');
    expect((await checkFrame({ dir: 'fromAgent', kind: 'response' }, { jsonrpc: '2.0', id: 9, result: {} })).why).toContain('is unknown');
  });

  test('the envelope is checked too', async () => {
    const { problems } = await checkFrame(asked('session/list'), { id: 1, method: 'session/list', params: {} });
    expect(problems).toEqual([{ at: 'jsonrpc', what: 'must be "2.0"', isTolerated: false }]);
  });
});
