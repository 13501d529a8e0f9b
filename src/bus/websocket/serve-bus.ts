// The server's end of a bus over WebSockets: each connection is a client of a broker in this process.
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Broker } from '../broker.ts';
import { type Bus, BusFailure, NAME } from '../bus.ts';
import { type ClientHeader, decode, encode, type ServerHeader } from './messages.ts';

/** Also the limit of WebSocket messages. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** A client that does not read is disconnected: its links recover on the next connection. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

const subject = z.string().regex(/^[\w=.-]{1,600}$/);
const pattern = z.string().regex(/^[\w=.*-]{1,600}$/);
const id = z.number().int();
const inDirectory = { id, directory: z.string().regex(NAME), ttlMs: z.number().positive().optional() };
const onEntry = { ...inDirectory, key: z.string().regex(NAME) };
const onStream = { id, stream: z.string().regex(NAME) };
const HEADER = z.discriminatedUnion('op', [
  z.object({ op: z.literal('send'), subject }),
  z.object({ op: z.literal('listen'), id, pattern }),
  z.object({ op: z.literal('answer'), id, pattern }),
  z.object({ op: z.literal('ask'), id, subject, timeoutMs: z.number().positive().max(600_000) }),
  z.object({ op: z.literal('answered'), asked: id, why: z.string().optional() }),
  z.object({ op: z.literal('get'), ...onEntry }),
  z.object({ op: z.literal('create'), ...onEntry }),
  z.object({ op: z.literal('update'), ...onEntry, revision: z.number() }),
  z.object({ op: z.literal('remove'), ...onEntry, revision: z.number() }),
  z.object({ op: z.literal('watch'), ...inDirectory }),
  z.object({ op: z.literal('append'), ...onStream, subject, after: z.number() }),
  z.object({ op: z.literal('last'), ...onStream, subject }),
  z.object({ op: z.literal('newest'), ...onStream }),
  z.object({ op: z.literal('trim'), ...onStream, sequence: z.number() }),
  z.object({ op: z.literal('read'), ...onStream, sequence: z.number() }),
  z.object({ op: z.literal('end'), id }),
]);

/** Serves one connection until it ends. */
export function serveBus(socket: WebSocket, broker: Broker): void {
  const bus = broker.connect();
  const lasting = new Map<number, () => void>();
  const asked = new Map<number, { resolve(bytes: Buffer): void; reject(error: Error): void }>();
  let lastAsked = 0;

  function tell(header: ServerHeader, bytes?: Buffer): void {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(encode(header, bytes), () => {});
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.close(1013, 'you do not read');
  }
  function askClient(id: number, subject: string, bytes: Buffer): Promise<Buffer> {
    lastAsked += 1;
    const number = lastAsked;
    return new Promise((resolve, reject) => {
      asked.set(number, { resolve, reject });
      tell({ op: 'asked', id, asked: number, subject }, bytes);
    });
  }
  function last(id: number, end: () => void): void {
    lasting.get(id)?.();
    if (socket.readyState === socket.OPEN) lasting.set(id, end);
    else end();
  }
  async function act(
    header: ClientHeader & { readonly id: number },
    bytes: Buffer,
  ): Promise<Omit<ServerHeader & { op: 'done' }, 'op' | 'id'> & { bytes?: Buffer }> {
    const { id } = header;
    switch (header.op) {
      case 'ask':
        return { bytes: await bus.ask(header.subject, bytes, header.timeoutMs) };
      case 'listen':
        last(
          id,
          bus.listen(header.pattern, (heard, subject) => tell({ op: 'heard', id, subject }, heard)),
        );
        return {};
      case 'answer':
        last(
          id,
          bus.answer(header.pattern, (question, subject) => askClient(id, subject, question)),
        );
        return {};
      case 'append': {
        const stream = await bus.stream(header.stream);
        return revisionOf(await stream.append(header.subject, bytes, header.after));
      }
      case 'last': {
        const record = await (await bus.stream(header.stream)).last(header.subject);
        return record ? { revision: record.sequence, isSet: true, bytes: record.bytes } : { isSet: false };
      }
      case 'newest':
        return { revision: await (await bus.stream(header.stream)).end() };
      case 'trim':
        await (await bus.stream(header.stream)).trim(header.sequence);
        return {};
      case 'read': {
        const stream = await bus.stream(header.stream);
        last(id, await stream.read(header.sequence, ({ bytes: record, ...rest }) => tell({ op: 'record', id, ...rest }, record)));
        return {};
      }
      case 'end':
        lasting.get(id)?.();
        lasting.delete(id);
        return {};
      case 'send':
      case 'answered':
        return {};
      default:
        return onDirectory(bus, header, bytes, (end) => last(id, end), tell);
    }
  }
  socket.on('message', (data, isBinary) => {
    const message = isBinary ? decode<unknown>(data as Buffer) : undefined;
    const parsed = HEADER.safeParse(message?.header);
    if (!message || !parsed.success) return socket.close(1008, 'this is no message of a bus');
    const header = parsed.data as ClientHeader;
    // The buffer belongs to the WebSocket.
    const bytes = Buffer.from(message.bytes);
    if (header.op === 'send') return bus.send(header.subject, bytes);
    if (header.op === 'answered') {
      const open = asked.get(header.asked);
      asked.delete(header.asked);
      return header.why === undefined ? open?.resolve(bytes) : open?.reject(new BusFailure('refused', header.why));
    }
    act(header, bytes).then(
      ({ bytes: answer, ...rest }) => tell({ op: 'done', id: header.id, ...rest }, answer),
      (error: Error) => {
        const reason = error instanceof BusFailure ? error.reason : 'refused';
        tell({ op: 'failed', id: header.id, reason, why: error.message });
      },
    );
  });
  socket.on('error', () => {}); // `close` follows
  socket.once('close', () => {
    for (const end of lasting.values()) end();
    for (const { reject } of asked.values()) reject(new BusFailure('disconnected', 'the one who answers has left'));
    asked.clear();
    void bus.close();
  });
}

type DirectoryHeader = Extract<ClientHeader, { readonly directory: string }>;

async function onDirectory(
  bus: Bus,
  header: DirectoryHeader,
  bytes: Buffer,
  last: (end: () => void) => void,
  tell: (header: ServerHeader, bytes?: Buffer) => void,
) {
  const directory = await bus.directory(header.directory, { ttlMs: header.ttlMs });
  switch (header.op) {
    case 'get': {
      const entry = await directory.get(header.key);
      return entry ? { revision: entry.revision, isSet: true, bytes: entry.value } : { isSet: false };
    }
    case 'create':
      return revisionOf(await directory.create(header.key, bytes));
    case 'update':
      return revisionOf(await directory.update(header.key, bytes, header.revision));
    case 'remove':
      return { isRemoved: await directory.remove(header.key, header.revision) };
    case 'watch': {
      const { id } = header;
      last(
        await directory.watch(({ key, value, revision }) =>
          tell({ op: 'changed', id, key, revision, isRemoved: value === undefined }, value),
        ),
      );
      return {};
    }
  }
}

const revisionOf = (revision: number | undefined) => (revision === undefined ? {} : { revision });
