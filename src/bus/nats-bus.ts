// A bus on NATS with JetStream. Debian's server (2.9) is enough: nothing newer is required.
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import { type Bus, BusFailure, type Change, type Directory, type Stream } from './bus.ts';
import { connectTo, forbiddenOf, type NatsOptions, reasonOf, shownAddress } from './nats-connection.ts';
import { directoryStream } from './setup/grants.ts';

const WRONG_LAST_SEQUENCE = 10071;
const NO_MESSAGE = 10037;
const NO_STREAM = 10059;
const STREAM_FULL = 10077;
const MAX_STREAM_BYTES = 1024 ** 3;
/** A reader whose server started again notices within seconds, not within the half minute of the library. */
const NOTICES = { expires: 10_000, idle_heartbeat: 1000 };
/** A write to a directory that is lost with its server must leave a host time for others before its lease ends. */
const WRITE_MS = 2000;

export async function connectNats(given: NatsOptions): Promise<Bus> {
  const { replicas = 1 } = given;
  const shownUrl = shownAddress(given);
  const nats = await connectTo(given);
  const listeners = new Set<(isConnected: boolean) => void>();
  let isConnected = true;
  void (async () => {
    for await (const { type } of nats.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      isConnected = type === 'reconnect';
      for (const listener of listeners) listener(isConnected);
    }
  })();
  const js = jetstream(nats, { timeout: WRITE_MS });
  return {
    shownUrl,
    get isConnected() {
      return isConnected && !nats.isClosed();
    },
    async directory(bucket, { ttlMs } = {}) {
      const entries = { subjects: [`$KV.${bucket}.>`], max_msgs_per_subject: 1, ...(ttlMs !== undefined && { max_age: nanos(ttlMs) }) };
      // Without roll-ups and purges, who may write one key cannot remove others.
      const limits = { ...entries, allow_rollup_hdrs: false, deny_delete: true, deny_purge: true };
      await opened(nats, 'directory', bucket, { name: directoryStream(bucket), ...limits, num_replicas: replicas });
      return directoryOf(await answered(new Kvm(js).open(bucket, { allow_direct: true })));
    },
    async stream(stream) {
      const limits = { subjects: [`${stream}.>`], num_replicas: replicas, max_bytes: MAX_STREAM_BYTES };
      return streamOf(nats, stream, await opened(nats, 'stream', stream, { name: stream, ...limits }));
    },
    send(subject, bytes) {
      if (!nats.isClosed()) nats.publish(subject, bytes);
    },
    listen(pattern, listener) {
      const subscription = nats.subscribe(pattern, {
        callback: (error, message) => void (error ?? listener(bytesOf(message), message.subject)),
      });
      return () => subscription.unsubscribe();
    },
    async ask(subject, bytes, timeoutMs) {
      try {
        return bytesOf(await nats.request(subject, bytes, { timeout: timeoutMs }));
      } catch (error) {
        throw failureOf(error as Error, subject, timeoutMs);
      }
    },
    answer(pattern, handler) {
      const subscription = nats.subscribe(pattern, {
        callback(error, message) {
          // An answer anywhere else would be written in this process's name.
          if (error || message.reply?.startsWith('_INBOX') !== true) return;
          handler(bytesOf(message), message.subject).then(
            (answer) => void message.respond(answer),
            () => {}, // the one who asks runs into its time limit
          );
        },
      });
      return () => subscription.unsubscribe();
    },
    onConnection(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flush: () => nats.flush(),
    async close() {
      if (nats.isClosed()) return;
      await (isConnected ? nats.drain() : nats.close()).catch(() => {});
    },
  };
}

type Kv = Awaited<ReturnType<Kvm['create']>>;

function directoryOf(kv: Kv): Directory {
  return {
    async get(key) {
      const entry = await answered(kv.get(key));
      if (entry?.operation !== 'PUT') return undefined;
      return { key, value: Buffer.from(entry.value), revision: entry.revision };
    },
    create: (key, value) => unlessOthersWrote(kv.create(key, value)),
    update: (key, value, revision) => unlessOthersWrote(kv.update(key, value, revision)),
    remove: async (key, revision) => (await unlessOthersWrote(kv.delete(key, { previousSeq: revision }).then(() => true))) === true,
    async watch(listener) {
      const { values } = await answered(kv.status());
      const entries = await answered(kv.watch());
      let ready = () => {};
      const isReady = new Promise<void>((resolve) => {
        ready = resolve;
      });
      if (values === 0) ready();
      void (async () => {
        for await (const { key, value, operation, revision, delta } of entries) {
          const change: Change = { key, value: operation === 'PUT' ? Buffer.from(value) : undefined, revision };
          listener(change);
          if (delta === 0) ready();
        }
        ready();
      })();
      await isReady;
      return () => entries.stop();
    },
  };
}

/** Creates it if it does not exist. What exists stays as it is. */
async function opened(nats: NatsConnection, kind: string, name: string, settings: Partial<StreamConfig> & { name: string }) {
  const failing = (error: Error): never => {
    throw new BusFailure('refused', `cannot open the ${kind} "${name}" on the bus: ${reasonOf(error)}`);
  };
  const manager = await jetstreamManager(nats).catch(failing);
  // Direct reads can be granted for one subject.
  const all = { ...settings, storage: StorageType.File, discard: DiscardPolicy.New, allow_direct: true };
  await manager.streams
    .info(settings.name)
    .catch((error: Error) =>
      error instanceof JetStreamApiError && error.code === NO_STREAM ? manager.streams.add(all).catch(missing) : failing(error),
    );
  return manager;

  function missing(error: Error): never {
    if (forbiddenOf(error) === undefined) return failing(error);
    throw new BusFailure('refused', `the ${kind} "${name}" does not exist on the bus, and these credentials may not create it`);
  }
}

function streamOf(nats: NatsConnection, stream: string, manager: JetStreamManager): Stream {
  const js = jetstream(nats);
  return {
    append: (subject, bytes, after) =>
      unlessOthersWrote(js.publish(`${stream}.${subject}`, bytes, { expect: { lastSubjectSequence: after } }).then(({ seq }) => seq)),
    async last(subject) {
      const message = await manager.direct.getMessage(stream, { last_by_subj: `${stream}.${subject}` }).catch((error: Error) => {
        if (error instanceof JetStreamApiError && error.code === NO_MESSAGE) return null;
        throw new BusFailure('disconnected', `the bus did not tell the last record: ${reasonOf(error)}`);
      });
      return message ? { subject, sequence: message.seq, bytes: Buffer.from(message.data) } : undefined;
    },
    async end() {
      const { state } = await answered(manager.streams.info(stream));
      return state.messages === 0 ? 0 : state.last_seq;
    },
    trim: async (sequence) => void (await answered(manager.streams.purge(stream, { seq: sequence + 1 }))),
    async read(sequence, listener) {
      const consumer = await answered(js.consumers.get(stream, { opt_start_seq: sequence + 1 }));
      const messages = await consumer.consume({
        ...NOTICES,
        callback: ({ subject, seq, data }) =>
          listener({ subject: subject.slice(stream.length + 1), sequence: seq, bytes: Buffer.from(data) }),
      });
      return () => messages.stop();
    },
  };
}

/** What reads from the bus fails with a `BusFailure`. */
async function answered<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    const reason = forbiddenOf(error as Error) === undefined ? 'disconnected' : 'refused';
    throw new BusFailure(reason, `the bus cannot be read: ${reasonOf(error as Error)}`);
  }
}

/** Undefined if the write was refused because another came first. */
async function unlessOthersWrote<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE) return undefined;
    if (error instanceof JetStreamApiError && error.code === STREAM_FULL) throw new BusFailure('refused', 'the stream is full');
    if (error instanceof JetStreamApiError) throw new BusFailure('refused', `the bus refused a write: ${reasonOf(error)}`);
    throw new BusFailure(
      forbiddenOf(error as Error) === undefined ? 'disconnected' : 'refused',
      `the bus did not take a write: ${reasonOf(error as Error)}`,
    );
  }
}

function failureOf(error: Error, subject: string, timeoutMs: number): BusFailure {
  if (error.name === 'NoRespondersError' || error.message.includes('no responders'))
    return new BusFailure('nobody', `nobody answers ${subject}`);
  if (error.name === 'TimeoutError') return new BusFailure('timeout', `${subject} did not answer within ${timeoutMs} ms`);
  if (forbiddenOf(error) !== undefined) return new BusFailure('refused', reasonOf(error));
  return new BusFailure('disconnected', reasonOf(error));
}

const bytesOf = ({ data }: Msg): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
