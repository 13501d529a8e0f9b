// A page of the web app, as a program: frames out, responses and broadcasts in.
import { WebSocket } from 'ws';
import type { Daemon } from '../e2e/daemon.ts';
import type { Json } from '../e2e/peer.ts';

export type TestPage = {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Every broadcast so far. */
  readonly broadcasts: readonly Json[];
  /** The whole response. */
  request(op: string, payload?: Json, type?: string): Promise<Json>;
  /** The result; an error fails the test. */
  call(op: string, payload?: Json, type?: string): Promise<Json>;
  /** The error; a result fails the test. */
  refused(op: string, payload?: Json, type?: string): Promise<Json>;
  /** The response to a frame as it is. */
  send(frame: string | Buffer): Promise<Json>;
  /** The first broadcast of a type, past or future. */
  got(type: string, wanted?: (message: Json) => boolean): Promise<Json>;
  /** The first update of a session. */
  update(type: string, wanted?: (update: Json) => boolean): Promise<Json>;
  leave(): Promise<void>;
};

export async function openPage({ address }: Pick<Daemon, 'address'>, token: string): Promise<TestPage> {
  const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/ws`, ['acp', `bearer.${token}`]);
  const broadcasts: Json[] = [];
  const looks = new Set<() => void>();
  const waiting = new Map<unknown, (response: Json) => void>();
  let count = 0;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (!message.type.endsWith('_response')) {
      broadcasts.push(message);
      for (const look of [...looks]) look();
      return;
    }
    const answered = waiting.get(message.id);
    if (!answered) throw new Error(`a response that nobody waits for: ${String(data)}`);
    waiting.delete(message.id);
    answered(message);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const page: TestPage = {
    socket,
    closed,
    broadcasts,
    request(op, payload, type = 'acp') {
      const id = `r${++count}`;
      socket.send(JSON.stringify({ type, id, op, payload }));
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async call(op, payload, type) {
      const response = await page.request(op, payload, type);
      if (!response.ok) throw new Error(`${op}: ${JSON.stringify(response.error)}`);
      return response.result;
    },
    async refused(op, payload, type) {
      const response = await page.request(op, payload, type);
      if (response.ok) throw new Error(`${op} was not refused: ${JSON.stringify(response.result)}`);
      return response.error;
    },
    send(frame) {
      socket.send(frame);
      return new Promise((resolve) => waiting.set(null, resolve));
    },
    got: (type, wanted = () => true) =>
      new Promise((resolve) => {
        const look = () => {
          const found = broadcasts.find((message) => message.type === type && wanted(message));
          if (!found) return;
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
      }),
    update: async (type, wanted = () => true) =>
      (await page.got('session_update', ({ update }) => update.type === type && wanted(update))).update,
    async leave() {
      socket.close();
      await closed;
    },
  };
  return page;
}
