// Collecting over the buses that need nothing installed, and what happens around it.
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { openCollectedLogs } from '../../../src/audit/collected-logs.ts';
import { createBroker } from '../../../src/bus/broker.ts';
import { BusFailure, type Stream } from '../../../src/bus/bus.ts';
import fc from '../../generated.ts';
import { echoHost } from '../cluster/echo-host.ts';
import { busOverWebSocket } from '../websocket-peer.ts';
import { collect, collectsLogs, folder, hostOn, linesOf, startCollector } from './collecting.ts';

collectsLogs('a bus in this process', async () => {
  const broker = createBroker(Date.now);
  return { connect: async () => broker.connect(), stop: async () => {} };
});

collectsLogs('a bus over a WebSocket', busOverWebSocket);

test('while the bus takes nothing, lines wait in the file, are counted, and the reason is said once', async () => {
  const bus = createBroker(Date.now).connect();
  const full = new BusFailure('refused', 'the stream is full (9 bytes)');
  const refusing = { ...bus, isConnected: true, stream: async (): Promise<Stream> => Promise.reject(full) };
  const why = 'the stream is full (9 bytes); collect the audit log: switchboard audit collect';
  const host = hostOn(refusing, 'one');
  const log = host.begin();
  log.decide(3);
  const sender = host.sender();
  await vi.waitFor(() => expect(sender.problem()).toBe(why));
  const waiting = sender.waitingBytes();
  expect(waiting).toBe(Buffer.byteLength(linesOf(log.file).join('\n')) + 1);
  log.decide(1);
  expect(sender.waitingBytes()).toBeGreaterThan(waiting);
  await sender.close();
  expect(host.reports).toEqual([`decisions wait in ${host.dir} until the bus takes them: ${why}`]);
});

test('only one process collects into a directory; one that was killed is no obstacle', () => {
  const dir = folder();
  symlinkSync(`999999.1.${os.hostname()}`, path.join(dir, 'collector.turn.1.1'));
  const logs = openCollectedLogs(dir);
  expect(openCollectedLogs(dir)).toEqual({ usedBy: path.join(dir, 'collector.turn.1.2') });
  if ('close' in logs) logs.close();
  const again = openCollectedLogs(dir);
  expect('close' in again).toBe(true);
});

test('a collector that cannot write its files takes nothing from the bus', async () => {
  const bus = createBroker(Date.now).connect();
  const host = hostOn(bus, 'one');
  const log = host.begin();
  log.decide(2);
  await host.send();
  const dir = folder();
  writeFileSync(path.join(dir, 'h1'), 'a file is in its place');
  await expect(collect(bus, 'one', dir)).rejects.toThrow(/ENOTDIR|EEXIST/);
  rmSync(path.join(dir, 'h1'));
  expect((await collect(bus, 'one', dir)).lines).toEqual(linesOf(log.file));
});

test('lines of a running host that another collector took are named', async () => {
  const bus = createBroker(Date.now).connect();
  const host = hostOn(bus, 'one');
  const running = await echoHost(bus, 'one');
  const [log, ended] = [host.begin(running.incarnation), host.begin()];
  log.decide(2);
  ended.decide(1);
  ended.close();
  await host.send();
  await collect(bus, 'one', folder());
  const other = await startCollector(bus, 'one', path.join(folder(), 'new'));
  const names = [{ host: 'h1', incarnation: running.incarnation }];
  expect(await other.collector.running()).toEqual(names);
  expect(await other.collector.elsewhere()).toEqual(names.map((name) => ({ name, seq: 2 })));
  await other.stop();
  await running.close();
});

test('a log whose file was replaced is sent again, so that the collector sees the difference', async () => {
  const bus = createBroker(Date.now).connect();
  const host = hostOn(bus, 'one');
  const log = host.begin();
  log.decide(3);
  const sender = host.sender();
  const dir = folder();
  const following = await startCollector(bus, 'one', dir);
  await vi.waitFor(() => expect(following.lines).toHaveLength(3));
  rmSync(log.file);
  rmSync(log.file.replace(/jsonl$/, 'head'));
  log.decide(1);
  sender.wake();
  await vi.waitFor(() => expect(following.broken).toEqual([log.incarnation]));
  await following.stop();
  await sender.close();
  expect((await collect(bus, 'one', dir)).problems).not.toEqual([]);
});

test('a host without a log has nothing to send', async () => {
  const bus = createBroker(Date.now).connect();
  const host = hostOn(bus, 'one');
  await host.send();
  mkdirSync(host.dir, { recursive: true });
  await host.send();
  expect([host.reports, existsSync(host.dir)]).toEqual([[], true]);
});

/** What may happen, in any order: `die` ends the host and begins its next incarnation, `forget` a new bus, `cut` half a line in the collector's file. */
const STEPS = ['decide', 'send', 'collect', 'die', 'forget', 'cut'] as const;

test('whatever dies in between, each line arrives once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 12, maxLength: 24 }), async (steps) => {
      const state = mkdtempSync(path.join(os.tmpdir(), 'switchboard-steps-'));
      const dir = path.join(state, 'collected');
      let bus = createBroker(Date.now).connect();
      const host = () => hostOn(bus, 'one', 'h1', state);
      let log = host().begin();
      const written = new Map<string, string[]>();
      try {
        for (const step of [...steps, 'decide', 'die', 'send', 'collect'] as const) {
          if (step === 'decide') log.decide(3);
          if (existsSync(log.file)) written.set(log.incarnation, linesOf(log.file));
          if (step === 'send') await host().send();
          if (step === 'collect') expect((await collect(bus, 'one', dir)).problems).toEqual([]);
          if (step === 'forget') bus = createBroker(Date.now).connect();
          const file = path.join(dir, 'h1', `${log.incarnation}.jsonl`);
          if (step === 'cut' && existsSync(file)) appendFileSync(file, '{"seq":4,"ti');
          if (step !== 'die') continue;
          log.kill();
          log = host().begin();
        }
        for (const [incarnation, lines] of written) expect(linesOf(path.join(dir, 'h1', `${incarnation}.jsonl`))).toEqual(lines);
      } finally {
        rmSync(state, { recursive: true, force: true });
      }
    }),
    { numRuns: 25 },
  );
});
