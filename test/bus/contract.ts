// What every bus must do. Each test uses names of its own, so that all of them can share a bus.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Bus, BusFailure } from '../../src/bus/bus.ts';

export type BusPeer = {
  /** Another client of the same bus. */
  connect(): Promise<Bus>;
  /** Cuts every connection; clients connect again by themselves. Undefined where there is no connection. */
  cut?(): Promise<void>;
  stop(): Promise<void>;
};

const name = () => randomUUID().slice(0, 8);
const text = (bytes: Buffer | undefined) => bytes?.toString();
const bytes = (content: string) => Buffer.from(content);

export function holdsTheContract(kind: string, start: () => Promise<BusPeer>): void {
  describe(kind, () => {
    let peer: BusPeer;
    let one: Bus;
    let other: Bus;
    beforeAll(async () => {
      peer = await start();
      one = await peer.connect();
      other = await peer.connect();
    });
    afterAll(async () => {
      await Promise.all([one.close(), other.close()]);
      await peer.stop();
    });

    test('of many who create a key, one wins, and everybody reads what it wrote', async () => {
      const directory = await one.directory(name());
      const revisions = await Promise.all(Array.from({ length: 20 }, (_, k) => directory.create('key', bytes(`${k}`))));
      const winners = revisions.flatMap((revision, k) => (revision === undefined ? [] : [k]));
      expect(winners).toHaveLength(1);
      expect(text((await directory.get('key'))?.value)).toBe(`${winners[0]}`);
    });

    test('an update counts only with the current revision, and so does a removal', async () => {
      const bucket = name();
      const [mine, theirs] = [await one.directory(bucket), await other.directory(bucket)];
      const first = (await mine.create('key', bytes('a'))) as number;
      const second = (await theirs.update('key', bytes('b'), first)) as number;
      expect(second).toBeGreaterThan(first);
      expect(await mine.update('key', bytes('c'), first)).toBeUndefined();
      expect(await mine.remove('key', first)).toBe(false);
      expect(text((await mine.get('key'))?.value)).toBe('b');
      expect(await mine.remove('key', second)).toBe(true);
      expect(await theirs.get('key')).toBeUndefined();
      expect(await theirs.update('key', bytes('d'), second)).toBeUndefined();
      expect(await theirs.create('key', bytes('e'))).toBeGreaterThan(second);
    });

    test('a watch shows what there is, then each change', async () => {
      const bucket = name();
      const [mine, theirs] = [await one.directory(bucket), await other.directory(bucket)];
      await mine.create('old', bytes('1'));
      const seen: string[] = [];
      const stop = await theirs.watch(({ key, value }) => seen.push(`${key}=${text(value) ?? 'removed'}`));
      expect(seen).toEqual(['old=1']);
      const revision = (await mine.create('new', bytes('2'))) as number;
      await mine.remove('new', revision);
      await vi.waitFor(() => expect(seen).toEqual(['old=1', 'new=2', 'new=removed']));
      stop();
    });

    test('a watch of an empty directory is ready at once', async () => {
      const directory = await one.directory(name());
      const seen: string[] = [];
      const stop = await directory.watch(({ key }) => seen.push(key));
      await directory.create('key', bytes(''));
      await vi.waitFor(() => expect(seen).toEqual(['key']));
      stop();
    });

    test('an entry that nobody renews expires', async () => {
      const directory = await one.directory(name(), { ttlMs: 1000 });
      await directory.create('key', bytes('a'));
      await vi.waitFor(async () => expect(await directory.get('key')).toBeUndefined(), { timeout: 5000, interval: 100 });
    });

    test('messages reach all who listen to a subject or its parent, in order, and nobody else', async () => {
      const parent = name();
      const heard: string[] = [];
      const all: string[] = [];
      const stops = [
        other.listen(`${parent}.a`, (message) => heard.push(text(message) ?? '')),
        other.listen(`${parent}.*`, (message, subject) => all.push(`${subject.slice(parent.length)}:${text(message)}`)),
      ];
      await other.flush();
      for (let k = 0; k < 50; k++) one.send(`${parent}.a`, bytes(`${k}`));
      one.send(`${parent}.b`, bytes('b'));
      one.send(`${parent}.a.deep`, bytes('deep'));
      await vi.waitFor(() => expect(all).toHaveLength(51));
      expect(heard).toEqual(Array.from({ length: 50 }, (_, k) => `${k}`));
      expect(all.at(-1)).toBe('.b:b');
      for (const stop of stops) stop();
    });

    test('a pattern takes any one name at each of its stars', async () => {
      const parent = name();
      const heard: string[] = [];
      const stop = other.listen(`${parent}.*.to.*`, (_, subject) => heard.push(subject.slice(parent.length + 1)));
      await other.flush();
      for (const subject of ['a.to.b', 'a.from.b', 'a.to', 'a.b.to.c', 'c.to.d']) one.send(`${parent}.${subject}`, bytes(''));
      await vi.waitFor(() => expect(heard).toEqual(['a.to.b', 'c.to.d']));
      stop();
    });

    test('bytes of a message stay as they are, up to 256 kB', async () => {
      const subject = name();
      const sent = Buffer.from(Array.from({ length: 256 * 1024 }, (_, k) => (k * 7) % 256));
      const heard = new Promise<Buffer>((resolve) => other.listen(subject, resolve));
      await other.flush();
      one.send(subject, sent);
      expect((await heard).equals(sent)).toBe(true);
    });

    test('a question gets its answer', async () => {
      const subject = name();
      const stop = other.answer(subject, async (question) => bytes(`${text(question)}!`));
      await other.flush();
      const answers = await Promise.all(['a', 'b', 'c'].map((question) => one.ask(subject, bytes(question), 5000)));
      expect(answers.map(text)).toEqual(['a!', 'b!', 'c!']);
      stop();
      const stopAny = other.answer(`${subject}.*`, async (_, asked) => bytes(asked));
      await other.flush();
      expect(text(await one.ask(`${subject}.who`, bytes(''), 5000))).toBe(`${subject}.who`);
      stopAny();
    });

    test('a question to nobody, and one that is not answered in time, fail with their reason', async () => {
      const subject = name();
      await expect(one.ask(subject, bytes(''), 5000)).rejects.toMatchObject({ name: 'BusFailure', reason: 'nobody' });
      const stop = other.answer(subject, () => new Promise(() => {}));
      await other.flush();
      await expect(one.ask(subject, bytes(''), 200)).rejects.toMatchObject({ reason: 'timeout' });
      stop();
    });

    test('a record of a stream is appended only behind the last one that its writer knows', async () => {
      const stream = name();
      const [mine, theirs] = [await one.stream(stream), await other.stream(stream)];
      const first = (await mine.append('host', bytes('a'), 0)) as number;
      expect(await theirs.append('host', bytes('x'), 0)).toBeUndefined();
      const second = (await theirs.append('host', bytes('b'), first)) as number;
      expect(await mine.append('other', bytes('c'), 0)).toBeGreaterThan(second);
      expect(await mine.last('host')).toEqual({ subject: 'host', sequence: second, bytes: bytes('b') });
      expect(await mine.last('nobody')).toBeUndefined();
    });

    test('a stream is read from any record on, and goes on with new ones', async () => {
      const stream = await one.stream(name());
      const first = (await stream.append('host', bytes('a'), 0)) as number;
      const second = (await stream.append('host', bytes('b'), first)) as number;
      const seen: string[] = [];
      const stop = await stream.read(first, ({ subject, sequence, bytes: record }) => seen.push(`${subject} ${sequence} ${text(record)}`));
      await vi.waitFor(() => expect(seen).toEqual([`host ${second} b`]));
      const third = (await stream.append('host', bytes('c'), second)) as number;
      await vi.waitFor(() => expect(seen).toEqual([`host ${second} b`, `host ${third} c`]));
      stop();
    });

    test('records up to a sequence are removed, and the sequence goes on growing', async () => {
      const stream = await one.stream(name());
      expect(await stream.end()).toBe(0);
      const first = (await stream.append('host', bytes('a'), 0)) as number;
      const second = (await stream.append('other', bytes('b'), 0)) as number;
      expect(await stream.end()).toBe(second);
      await stream.trim(first);
      expect([await stream.last('host'), (await stream.last('other'))?.sequence]).toEqual([undefined, second]);
      const seen: string[] = [];
      const stop = await stream.read(0, ({ bytes: record }) => seen.push(text(record) ?? ''));
      expect(await stream.append('host', bytes('c'), 0)).toBeGreaterThan(second);
      await vi.waitFor(() => expect(seen).toEqual(['b', 'c']));
      stop();
    });

    test('a closed bus fails its questions', async () => {
      const bus = await peer.connect();
      await bus.close();
      expect(bus.isConnected).toBe(false);
      await expect(bus.ask('x', bytes(''), 500)).rejects.toBeInstanceOf(BusFailure);
    });

    test('after a lost connection it listens, answers and watches as before', async () => {
      if (!peer.cut) return;
      const subject = name();
      const bucket = name();
      const heard: string[] = [];
      const keys: string[] = [];
      const states: boolean[] = [];
      const records: string[] = [];
      const stream = await one.stream(bucket);
      const before = (await stream.append('host', bytes('before'), 0)) as number;
      const stops = [
        await (await other.stream(bucket)).read(0, ({ bytes: record }) => records.push(text(record) ?? '')),
        other.listen(subject, (message) => heard.push(text(message) ?? '')),
        other.answer(`${subject}.ask`, async () => bytes('here')),
        await (await other.directory(bucket)).watch(({ key }) => keys.push(key)),
        other.onConnection((isConnected) => states.push(isConnected)),
      ];
      await other.flush();
      await peer.cut();
      await vi.waitFor(() => expect([states[0], one.isConnected, other.isConnected]).toEqual([false, true, true]), { timeout: 20_000 });
      await other.flush();
      one.send(subject, bytes('after'));
      await vi.waitFor(() => expect(heard).toEqual(['after']), { timeout: 10_000 });
      expect(text(await one.ask(`${subject}.ask`, bytes(''), 5000))).toBe('here');
      await (await one.directory(bucket)).create('late', bytes(''));
      await vi.waitFor(() => expect(keys).toContain('late'), { timeout: 20_000 });
      await stream.append('host', bytes('after'), before);
      await vi.waitFor(() => expect(records).toEqual(['before', 'after']), { timeout: 20_000 });
      for (const stop of stops) stop();
    });
  });
}
