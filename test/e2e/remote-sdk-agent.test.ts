// The ACP SDK's server as a remote agent, over HTTP and over a WebSocket.
import { expect } from 'vitest';
import { type Client, type Json, open, prompt, type Stage, test } from './harness.ts';
import { type SdkServer, startSdkServer } from './sdk-server.ts';

async function withSdkAgent(stage: Stage, scheme: string, work: (client: Client, server: SdkServer) => Promise<void>): Promise<void> {
  const server = await startSdkServer();
  try {
    const far: Json = { url: `${scheme}://${server.address}` };
    await work(await stage.connect({ far }), server);
  } finally {
    await server.stop();
  }
}

for (const scheme of ['http', 'ws']) {
  test(`${scheme}: a turn streams its updates in order, before its answer`, async ({ stage }) => {
    await withSdkAgent(stage, scheme, async (client) => {
      const { id } = await open(client, stage.cwd);
      const answer = await prompt(client, id, 'hello');
      expect(answer.result).toEqual({ stopReason: 'end_turn' });
      expect(client.agentText(id)).toBe('hello 0;hello 1;hello 2;');
      const last = client.all('session/update').at(-1);
      expect(last?.index).toBeLessThan(client.place(answer));
      expect(await client.close()).toBe(0);
    });
  });

  test(`${scheme}: a permission request reaches the client, and its answer the agent`, async ({ stage }) => {
    await withSdkAgent(stage, scheme, async (client) => {
      client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
      const { id } = await open(client, stage.cwd);
      expect((await prompt(client, id, 'ask')).result.stopReason).toBe('end_turn');
      expect(JSON.parse(client.agentText(id))).toEqual({ outcome: 'selected', optionId: 'yes' });
    });
  });

  test(`${scheme}: a cancel overtakes the running prompt`, async ({ stage }) => {
    await withSdkAgent(stage, scheme, async (client) => {
      const { id } = await open(client, stage.cwd);
      const turn = prompt(client, id, 'wait');
      await client.got('session/update');
      client.notify('session/cancel', { sessionId: id });
      expect((await turn).result.stopReason).toBe('cancelled');
    });
  });

  test(`${scheme}: a new process loads the session, and its replay comes before the answer`, async ({ stage }) => {
    await withSdkAgent(stage, scheme, async (client, server) => {
      const { id } = await open(client, stage.cwd);
      for (const text of ['one', 'two', 'three']) await prompt(client, id, text);
      await client.close();
      const far: Json = { url: `${scheme}://${server.address}` };
      const next = await stage.connect({ far });
      const answer = await next.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
      expect(answer.result).toBeDefined();
      expect(next.agentText(id)).toBe('one;two;three;');
      const last = next.all('session/update').at(-1);
      expect(last?.index).toBeLessThan(next.place(answer));
      expect((await prompt(next, id, 'four')).result.stopReason).toBe('end_turn');
    });
  });
}
