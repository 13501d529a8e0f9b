// What the demo agents advertise, and how their process starts and ends.
import { spawnSync } from 'node:child_process';
import { methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAgentFile } from './bundle.ts';
import { type Client, startClient } from './client.ts';

let sketcher: Client;
let builder: Client;
beforeAll(async () => {
  [sketcher, builder] = await Promise.all([startClient('sketcher'), startClient('builder')]);
});
afterAll(() => Promise.all([sketcher.end(), builder.end()]));

describe('initialize', () => {
  test('sketcher advertises the capabilities of a modern agent', () => {
    expect(sketcher.initialized).toEqual({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
      agentInfo: { name: 'sketcher', title: 'Sketcher', version: '1.0.0' },
    });
  });

  test('builder advertises less', () => {
    expect(builder.initialized).toEqual({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, audio: false, embeddedContext: false },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
      agentInfo: { name: 'builder', title: 'Builder', version: '1.0.0' },
    });
  });
});

describe('what builder does not advertise', () => {
  test.each([
    [methods.agent.session.resume, { cwd: '/project' }],
    [methods.agent.session.close, {}],
    [methods.agent.session.setConfigOption, { configId: 'model', value: 'ink' }],
  ])('%s is an unknown method', async (method, params) => {
    const sessionId = await builder.newSession();
    await expect(builder.agent.request(method as string, { sessionId, ...params })).rejects.toMatchObject({ code: -32601 });
  });

  test('an MCP server over HTTP is refused with the session', async () => {
    const server = { type: 'http' as const, name: 'web', url: 'http://127.0.0.1:1/mcp', headers: [] };
    await expect(builder.newSession([server])).rejects.toMatchObject({ code: -32602, data: { name: 'web', type: 'http' } });
  });

  test('an embedded resource in a prompt is refused, a link is accepted', async () => {
    const sessionId = await builder.newSession();
    const prompt = (block: object) =>
      builder.agent.request<{ stopReason: string }>('session/prompt' as string, {
        sessionId,
        prompt: [{ type: 'text', text: 'Look' }, block],
      });
    const resource = { type: 'resource', resource: { uri: 'file:///a.txt', text: 'a' } };
    await expect(prompt(resource)).rejects.toMatchObject({ code: -32602, data: { type: 'resource' } });
    await expect(prompt({ type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' })).resolves.toEqual({ stopReason: 'end_turn' });
  });
});

describe('the process', () => {
  test('exits with code 0 when its stdin ends, idle or in the middle of a turn', async () => {
    const sessionId = await builder.newSession();
    const prompt = builder.prompt(sessionId, '/slow 60').catch(() => 'connection closed');
    await builder.seen((frame) => JSON.stringify(frame).includes('1 of 1200'));
    expect(await builder.end()).toBe(0);
    expect(await prompt).toBe('connection closed');
    expect(await sketcher.end()).toBe(0);
  });

  test('with an unknown name prints its usage on stderr and exits with code 2', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [demoAgentFile, '--name', 'plumber'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('--name sketcher|builder');
  });
});
