// What a collector gets from hosts, whatever the bus: everything, once, in order, and the name of what was changed.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openCollectedLogs } from '../../../src/audit/collected-logs.ts';
import { beginIncarnationLog, incarnationLogs } from '../../../src/audit/incarnation-logs.ts';
import { collectLogs } from '../../../src/bus/audit/collect-logs.ts';
import { sendLogs } from '../../../src/bus/audit/send-logs.ts';
import type { Bus } from '../../../src/bus/bus.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import { subjects } from '../../../src/bus/cluster/records.ts';
import type { BusPeer } from '../contract.ts';

export type RestartingPeer = BusPeer & {
  /** Undefined for a bus that ends with its process. */
  restart?(): Promise<void>;
};

const ENTRY = {
  agent: 'claude',
  session: 'session-1',
  method: 'session/request_permission',
  request: '{}',
  evidence: 'raw',
  verdict: 'allow' as const,
  answeredBy: 'policy' as const,
  outcome: 'allowed' as const,
  latencyMs: 1,
  policyHash: 'abc',
};

export function folder(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-collect-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

/** A host that has only its log. */
export function hostOn(bus: Bus, tenant: string, host = 'h1', state = folder()) {
  const dir = incarnationLogs(state, tenant, host);
  const reports: string[] = [];
  const sender = () => sendLogs({ bus, tenant, host, dir, clock: systemBusClock, report: (text) => reports.push(text) });
  return {
    dir,
    reports,
    sender,
    begin(incarnation: string = randomUUID()) {
      const log = beginIncarnationLog(dir, host, incarnation, { redact: (text) => text });
      let count = 0;
      return {
        incarnation,
        file: log.file,
        close: log.close,
        decide(many = 1) {
          for (let k = 0; k < many; k++) {
            count += 1;
            log.record({ ...ENTRY, summary: `decision ${count}` });
          }
        },
        /** As a process that was killed leaves it. */
        kill: () => writeFileSync(log.file.replace(/jsonl$/, 'owner'), `999999.1.${os.hostname()}`),
      };
    },
    /** Sends everything that there is. */
    send: () => sender().close(),
  };
}

/** A collector until its end. */
export async function startCollector(bus: Bus, tenant: string, dir: string) {
  const logs = openCollectedLogs(dir);
  if ('usedBy' in logs) throw new Error('in use');
  const lines: string[] = [];
  const unknown: string[] = [];
  const broken: string[] = [];
  const collector = await collectLogs({
    bus,
    tenant,
    logs,
    clock: systemBusClock,
    onLine: (line) => lines.push(line.toString()),
    onBroken: ({ incarnation }) => broken.push(incarnation),
    onUnknownRecord: (text) => unknown.push(text),
    onFailure: (error) => unknown.push(error.message),
  });
  return {
    logs,
    lines,
    unknown,
    broken,
    collector,
    async stop() {
      await collector.close();
      logs.close();
    },
  };
}

/** Collects what there is; returns the new lines and what is wrong. */
export async function collect(bus: Bus, tenant: string, dir: string) {
  const { collector, logs, lines, unknown, stop } = await startCollector(bus, tenant, dir);
  try {
    await collector.caughtUp();
    const reports = await Promise.all(logs.all().map(logs.verify));
    const problems = reports.flatMap((report) => report.problems.map(({ kind, says }) => `${kind}: ${says}`));
    return { lines, unknown, problems, notes: reports.flatMap(({ notes }) => notes), isEnded: reports.map(({ isEnded }) => isEnded) };
  } finally {
    await stop();
  }
}

const rewrite = (file: string, change: (lines: string[]) => string[]) => writeFileSync(file, `${change(linesOf(file)).join('\n')}\n`);

export function collectsLogs(kind: string, start: () => Promise<RestartingPeer>): void {
  describe(kind, () => {
    let peer: RestartingPeer;
    let hostBus: Bus;
    let bus: Bus;
    beforeAll(async () => {
      peer = await start();
      hostBus = await peer.connect();
      bus = await peer.connect();
    });
    afterAll(async () => {
      await Promise.all([hostBus.close(), bus.close()]);
      await peer.stop();
    });
    function stage() {
      const tenant = `t${randomUUID().slice(0, 8)}`;
      return { tenant, host: hostOn(hostBus, tenant), dir: path.join(folder(), 'collected') };
    }

    test('every line arrives as its host wrote it, with the names of host and incarnation, and leaves the bus and the host', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(3);
      log.close();
      const written = linesOf(log.file);
      await host.send();
      const { lines, problems, notes, isEnded } = await collect(bus, tenant, dir);
      expect(lines).toEqual(written);
      expect(lines.map((line) => JSON.parse(line).incarnation)).toEqual(Array(4).fill(log.incarnation));
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ host: 'h1', summary: 'decision 1' });
      expect([problems, notes, isEnded]).toEqual([[], [], [true]]);
      expect(linesOf(path.join(dir, 'h1', `${log.incarnation}.jsonl`))).toEqual(written);
      expect(await (await bus.stream(subjects(tenant).audit)).end()).toBe(0);
      await host.send();
      expect(readdirSync(host.dir)).toEqual([]);
    });

    test('a running host sends its decisions by itself, and a collector that follows gets them', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      const sender = host.sender();
      const following = await startCollector(bus, tenant, dir);
      for (let round = 1; round <= 3; round++) {
        log.decide(50);
        sender.wake();
        await vi.waitFor(() => expect(following.lines).toHaveLength(50 * round), { timeout: 10_000 });
      }
      expect(following.broken).toEqual([]);
      await following.stop();
      await sender.close();
    });

    test('a collector that was stopped, or killed while it wrote, goes on where it was', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(5);
      await host.send();
      await collect(bus, tenant, dir);
      log.decide(5);
      await host.send();
      // It wrote lines and half of one, and told nobody.
      const file = path.join(dir, 'h1', `${log.incarnation}.jsonl`);
      const all = linesOf(log.file);
      appendFileSync(file, `${all[5]}\n${all[6]?.slice(0, 40)}`);
      const { lines, problems } = await collect(bus, tenant, dir);
      expect(lines).toEqual(all.slice(6));
      expect([linesOf(file), problems]).toEqual([all, []]);
      expect((await collect(bus, tenant, dir)).lines).toEqual([]);
    });

    test('a host that was killed with lines that nobody has sends them when it runs again', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(100);
      await host.send();
      log.decide(100);
      appendFileSync(log.file, '{"seq":201,"ti'); // it was killed while it wrote
      log.kill();
      const all = linesOf(log.file).slice(0, 200);
      host.begin().decide(1);
      await host.send();
      const { lines, problems } = await collect(bus, tenant, dir);
      expect(lines.filter((line) => line.includes(log.incarnation))).toEqual(all);
      expect([lines.length, problems]).toEqual([201, []]);
      await host.send();
      expect(existsSync(log.file)).toBe(false);
    });

    test('a bus that starts again loses no line and repeats none', async () => {
      if (!peer.restart) return;
      const { tenant, host, dir } = stage();
      const log = host.begin();
      const sender = host.sender();
      log.decide(20);
      await sender.close();
      const following = await startCollector(bus, tenant, dir);
      await vi.waitFor(() => expect(following.lines).toHaveLength(20), { timeout: 10_000 });
      const again = host.sender();
      await peer.restart();
      log.decide(20);
      again.wake();
      await vi.waitFor(() => expect(following.lines).toHaveLength(40), { timeout: 20_000 });
      log.decide(20);
      again.wake();
      await vi.waitFor(() => expect(following.lines).toHaveLength(60), { timeout: 20_000 });
      expect(following.lines).toEqual(linesOf(log.file));
      expect(following.broken).toEqual([]);
      await following.stop();
      await again.close();
    });

    test.each<[string, (lines: string[]) => string[], string]>([
      [
        'edited',
        (lines) => lines.map((line, k) => (k === 1 ? line.replace('decision 2', 'decision X') : line)),
        'edited: line 2 was changed',
      ],
      ['removed', (lines) => lines.filter((_, k) => k !== 1), 'missing: before line 2, number 2 is missing'],
      ['moved', ([one, two, three, ...rest]) => [one, three, two, ...rest] as string[], 'reordered: line 2 (number 3) is not where'],
      ['put there', ([one, ...rest]) => [one, 'hello', ...rest] as string[], 'foreign: line 2 is no line of the audit log'],
    ])('a local line that was %s before it was sent is found by name', async (_, change, expected) => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(5);
      log.close();
      rewrite(log.file, change);
      await host.send();
      expect((await collect(bus, tenant, dir)).problems.join('\n')).toContain(expected);
    });

    test('lines that were cut off at the end before they were sent are missing, also when the bus has lines before them', async () => {
      const { tenant, host, dir } = stage();
      const [whole, part] = [host.begin(), host.begin()];
      whole.decide(3);
      part.decide(2);
      await host.send();
      part.decide(3);
      for (const log of [whole, part]) log.kill();
      truncateSync(part.file, Buffer.byteLength(linesOf(part.file).slice(0, 2).join('\n')) + 1);
      await host.send();
      const { problems } = await collect(bus, tenant, dir);
      expect(problems).toEqual(['missing: at the end, numbers 3 to 5 are missing']);
    });

    test('a line that was changed after it was sent changes nothing, and one that is sent again in another form is found', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(3);
      await host.send();
      await collect(bus, tenant, dir);
      rewrite(log.file, (lines) => lines.map((line) => line.replace('decision 3', 'decision X')));
      log.decide(1);
      await host.send();
      const { problems } = await collect(bus, tenant, dir);
      expect(problems).not.toEqual([]);
      expect(
        linesOf(path.join(dir, 'h1', `${log.incarnation}.jsonl`))
          .slice(0, 3)
          .join(),
      ).toContain('decision 3');
    });

    test('a record in the name of a host that another process wrote is found, and keeps none of its lines away', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(2);
      await host.send();
      const stream = await bus.stream(subjects(tenant).audit);
      const subject = `h1.${log.incarnation}`;
      const last = await stream.last(subject);
      const forged = linesOf(log.file)[1]?.replace('decision 2', 'decision X').replace('"seq":2', '"seq":3');
      await stream.append(subject, Buffer.from(`{"v":1}\n${forged}\n`), last?.sequence ?? 0);
      log.decide(2);
      await host.send();
      const { problems } = await collect(bus, tenant, dir);
      expect(problems).not.toEqual([]);
      const collected = linesOf(path.join(dir, 'h1', `${log.incarnation}.jsonl`));
      expect(linesOf(log.file).filter((line) => !collected.includes(line))).toEqual([]);
    });

    test('lines of one host under the name of another are of another log', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      log.decide(2);
      const stream = await bus.stream(subjects(tenant).audit);
      await stream.append(`h2.${log.incarnation}`, Buffer.from(`{"v":1}\n${linesOf(log.file).join('\n')}\n`), 0);
      expect((await collect(bus, tenant, dir)).problems).toEqual([
        'foreign: line 1 is of another log',
        'foreign: line 2 is of another log',
      ]);
    });

    test('what is no batch, or of a later version, is reported and stays on the bus', async () => {
      const { tenant, host, dir } = stage();
      const log = host.begin();
      const stream = await bus.stream(subjects(tenant).audit);
      await stream.append('h9.life', Buffer.from('{"v":2}\nx\n'), 0);
      log.decide(1);
      await host.send();
      for (let round = 0; round < 2; round++)
        expect((await collect(bus, tenant, dir)).unknown).toEqual([
          expect.stringMatching(/^record \d+ of "h9\.life" is no part of an audit log, or of a later version; it stays on the bus$/),
        ]);
      expect((await stream.last('h9.life'))?.bytes.toString()).toContain('"v":2');
    });
  });
}
