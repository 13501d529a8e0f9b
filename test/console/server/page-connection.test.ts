// One page on a real socket: its requests use no more memory than it reads.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { createConversation } from '../../../src/console/protocol/conversation.ts';
import type { ConsoleState } from '../../../src/console/protocol/state.ts';
import { openPage, type Page } from '../../../src/console/server/page-connection.ts';
import { createFeed, type Feed } from '../../../src/console/state/feed.ts';

const LONG = 'x'.repeat(1 << 20);

type Opened = {
  readonly client: WebSocket;
  readonly page: Page;
  readonly server: WebSocket;
  readonly feed: Feed;
  readonly performed: string[];
};

/** A connected page; each of its actions returns a megabyte. */
async function open(): Promise<Opened> {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => sockets.close());
  const performed: string[] = [];
  const feed = createFeed();
  await once(sockets, 'listening');
  const letIn = new Promise<Pick<Opened, 'page' | 'server'>>((resolve) => {
    sockets.once('connection', (server) =>
      server.once('message', (data) =>
        openPage(server, JSON.parse(String(data)), {
          feed,
          state: () => ({}) as ConsoleState,
          conversation: createConversation,
          handlers: {
            perform(action) {
              performed.push(action);
              return { text: LONG };
            },
            subscribe: () => () => {},
          },
          failure: (error) => ({ message: String(error) }),
          opened: (page) => resolve({ page, server }),
          closed: () => {},
        }),
      ),
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`);
  onTestFinished(() => client.terminate());
  client.once('open', () => client.send('{"hello":"word"}'));
  return { client, performed, feed, ...(await letIn) };
}

test('a page that does not read its responses is paused until it does, and then gets them all', async () => {
  const { client, server, performed } = await open();
  const answered: number[] = [];
  const ALL = 200;
  const done = new Promise<void>((resolve) =>
    client.on('message', (data) => {
      const [, re] = /^\{"t":"answer","re":(\d+)/.exec(String(data).slice(0, 40)) ?? [];
      if (re !== undefined) answered.push(Number(re));
      if (answered.length === ALL) resolve();
    }),
  );
  client.pause();
  for (let id = 0; id < ALL; id++) client.send(JSON.stringify({ id, action: 'all', params: 'y'.repeat(2000) }));
  await expect.poll(() => server.isPaused).toBe(true);
  expect(server.bufferedAmount).toBeLessThan(10 * LONG.length);
  expect(performed.length).toBeLessThan(ALL / 2);
  client.resume();
  await done;
  expect(answered).toEqual(Array.from({ length: ALL }, (_, id) => id));
});

test('a page watches a limited number of sessions, the most recent ones', async () => {
  const { client, page, feed } = await open();
  const received = new Promise<string>((resolve) =>
    client.on('message', (data) => {
      if (String(data).startsWith('{"t":"deltas"')) resolve(String(data));
    }),
  );
  for (let n = 0; n < 150; n++) page.watch(`s-${n}`);
  for (const n of [0, 49, 50, 149]) feed.publish({ c: `s-${n}`, event: { e: 'note', text: `note ${n}` } } as never, `s-${n}`);
  expect([...(await received).matchAll(/note (\d+)/g)].map(([, n]) => n)).toEqual(['50', '149']);
});
