// Our MCP server with clients of both eras, on both listeners: the SDK in common use (1.32), and the current one set to 2026-07-28.
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, test } from 'vitest';
import { createHostTools, type HostTools } from '../../src/mcp/server/host-tools.ts';
import { type HostTool, object, type SessionHost, text } from '../../src/mcp/server/tool.ts';
import { SWITCHBOARD } from '../e2e/harness.ts';

const host: SessionHost = { sessionId: 's1', agent: 'a', cwd: '/', roots: [], workspace: {}, ask: async () => ({ kind: 'unavailable' }) };
const base = { title: '', inputSchema: object({}), effect: 'read', needs: [], timeoutMs: undefined, server: 'switchboard' } as const;

let hostTools: HostTools;
afterEach(() => hostTools.close());

type Entry = { url: string; headers: { value: string }[]; command: string; args: string[]; env: { name: string; value: string }[] };

/** A client of each era, connected like an agent that got the entry. */
const CONNECT = {
  async '2025-11-25'(way: 'http' | 'stdio', entry: Entry) {
    const client = new Client({ name: 'agent', version: '1' });
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    const env = Object.fromEntries((entry.env ?? []).map(({ name, value }) => [name, value]));
    await client.connect(
      way === 'http'
        ? new StreamableHTTPClientTransport(new URL(entry.url), {
            requestInit: { headers: { authorization: String(entry.headers[0]?.value) } },
          })
        : new StdioClientTransport({ command: entry.command, args: entry.args, env }),
    );
    return {
      heard,
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name: string, signal?: AbortSignal, onprogress?: () => void) =>
        client.callTool({ name, arguments: {} }, undefined, { ...(signal && { signal }), ...(onprogress && { onprogress }) }),
      close: () => client.close(),
    };
  },
  async '2026-07-28'(way: 'http' | 'stdio', entry: Entry) {
    const heard: string[] = [];
    const client = new ModernClient(
      { name: 'agent', version: '1' },
      {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        listChanged: { tools: { onChanged: () => void heard.push('notifications/tools/list_changed') } },
      },
    );
    const env = Object.fromEntries((entry.env ?? []).map(({ name, value }) => [name, value]));
    await client.connect(
      way === 'http'
        ? new ModernHttp(new URL(entry.url), { requestInit: { headers: { authorization: String(entry.headers[0]?.value) } } })
        : new ModernStdio({ command: entry.command, args: entry.args, env }),
    );
    return {
      heard,
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name: string, signal?: AbortSignal, onprogress?: () => void) =>
        client.callTool({ name, arguments: {} }, { ...(signal && { signal }), ...(onprogress && { onprogress }) }),
      close: () => client.close(),
    };
  },
} as const;

describe.each(['2025-11-25', '2026-07-28'] as const)('a client of the era %s', (era) => {
  test.each(['stdio', 'http'] as const)('over %s lists and calls tools, receives progress and changes, and cancels calls', async (way) => {
    let takenBack = () => {};
    const ended = new Promise<void>((resolve) => {
      takenBack = resolve;
    });
    const tools: HostTool[] = [
      { ...base, name: 'hello', description: 'Greets.', run: async (_, { host: { sessionId } }) => text(`hello from ${sessionId}`) },
      {
        ...base,
        name: 'wait',
        description: 'Waits.',
        run: (_, { signal, progress }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              takenBack();
              resolve(text('late'));
            });
            progress('waiting');
          }),
      },
    ];
    hostTools = createHostTools({
      version: '0',
      shim: { command: process.execPath, args: [SWITCHBOARD, 'mcp-shim'] },
      tools: () => tools,
      gate: async () => ({ allow: true }),
      onEvent: () => {},
      maxOutputBytes: 1000,
    });
    const entry = await new Promise<Entry>((resolve, reject) => {
      const toolSession = { abilities: new Set<never>(), onState() {}, onRevoke() {}, host: () => host };
      hostTools.attach(way, toolSession, (attached) => {
        if (attached instanceof Error) return reject(attached);
        attached.toolServer.bind();
        resolve(JSON.parse(attached.entry('switchboard')));
      });
    });
    const client = await CONNECT[era](way, entry);
    expect(await client.names()).toEqual(['hello', 'wait']);
    expect(await client.call('hello')).toMatchObject({ content: [{ text: 'hello from s1' }] });

    const changedMind = new AbortController();
    const waiting = client.call('wait', changedMind.signal, () => changedMind.abort());
    await expect(waiting).rejects.toThrow();
    await ended;

    hostTools.toolsChanged();
    await expect.poll(() => client.heard, { timeout: 10_000 }).toContain('notifications/tools/list_changed');
    await client.close();
  });
});
