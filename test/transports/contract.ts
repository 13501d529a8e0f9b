// What every transport to an agent must hold: order, unchanged bytes, back-pressure, large frames, and one report of the end.
import { describe, expect, test } from 'vitest';
import type { Exit, Transport } from '../../src/transports/transport.ts';
import type { EchoPeer } from './echo-peers.ts';

export const MAX_FRAME_BYTES = 33_554_432;

export type Carrier = { readonly name: string; start(): Promise<{ transport: Transport; peer: Omit<EchoPeer, 'url'> }> };

/** Everything that comes back, and a way to wait until it is complete. */
function collect(transport: Transport): { text(): string; until(bytes: number): Promise<void> } {
  const chunks: Buffer[] = [];
  let size = 0;
  let look = () => {};
  transport.fromAgent.on('data', (chunk) => {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    look();
  });
  return {
    text: () => Buffer.concat(chunks).toString(),
    until: (bytes) =>
      new Promise((resolve) => {
        look = () => void (size >= bytes && resolve());
        look();
      }),
  };
}
export const exitOf = (transport: Transport): Promise<Exit> => new Promise((resolve) => transport.onExit(resolve));

async function using(carrier: Carrier, work: (transport: Transport, peer: Omit<EchoPeer, 'url'>) => Promise<void>): Promise<void> {
  const { transport, peer } = await carrier.start();
  try {
    await work(transport, peer);
  } finally {
    await transport.stop();
    await peer.stop();
  }
}

/** Declares the tests of one transport. */
export function holdsTheContract(carrier: Carrier): void {
  describe(carrier.name, () => {
    test('keeps the order and the bytes of frames, however they are split into writes', async () => {
      await using(carrier, async (transport) => {
        const lines = Array.from(
          { length: 300 },
          (_, n) => `{"jsonrpc":"2.0","method":"_n","params":{"n":${n}.0,"é":"\\u00e9 ${'x'.repeat(n)}","n":18014398509481985}}\n`,
        );
        const all = Buffer.from(lines.join(''));
        const back = collect(transport);
        for (let at = 0; at < all.length; at += 977) transport.toAgent.write(all.subarray(at, at + 977));
        await back.until(all.length);
        expect(back.text()).toBe(all.toString());
      });
    });

    test('carries a frame of 32 MiB', async () => {
      await using(carrier, async (transport) => {
        const head = '{"jsonrpc":"2.0","method":"_long","params":{"text":"';
        const line = `${head}${'y'.repeat(MAX_FRAME_BYTES - head.length - 3)}"}}\n`;
        const back = collect(transport);
        transport.toAgent.write(Buffer.from(line));
        await back.until(line.length);
        expect(back.text() === line).toBe(true);
      });
    });

    test('pauses: nothing arrives while reading is paused, and all of it afterwards', async () => {
      await using(carrier, async (transport) => {
        const line = Buffer.from(`{"jsonrpc":"2.0","method":"_n","params":{"text":"${'z'.repeat(60_000)}"}}\n`);
        const back = collect(transport);
        transport.toAgent.write(line);
        await back.until(line.length);
        transport.fromAgent.pause();
        for (let n = 0; n < 20; n++) transport.toAgent.write(line);
        // Meanwhile another connection, which is not paused, gets all of its own.
        await using(carrier, async (other) => {
          const control = collect(other);
          for (let n = 0; n < 20; n++) other.toAgent.write(line);
          await control.until(20 * line.length);
        });
        expect(back.text().length).toBe(line.length);
        transport.fromAgent.resume();
        await back.until(21 * line.length);
      });
    });

    test('reports an abrupt end once, with a reason', async () => {
      await using(carrier, async (transport, peer) => {
        const ends: Exit[] = [];
        transport.onExit((exit) => ends.push(exit));
        const line = Buffer.from('{"jsonrpc":"2.0","method":"_here"}\n');
        const back = collect(transport);
        transport.toAgent.write(line);
        await back.until(line.length);
        peer.cut();
        await exitOf(transport);
        await transport.stop();
        expect(ends).toHaveLength(1);
        expect(['exited', 'disconnected']).toContain(ends[0]?.kind);
      });
    });

    test('ends when it is told to, and then writes do not throw', async () => {
      await using(carrier, async (transport) => {
        await transport.stop();
        await exitOf(transport);
        transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","method":"_late"}\n'));
        transport.kill();
      });
    });

    test('reports an end by kill after the call, never in the middle of what its caller does', async () => {
      await using(carrier, async (transport) => {
        const line = Buffer.from('{"jsonrpc":"2.0","method":"_here"}\n');
        const back = collect(transport);
        transport.toAgent.write(line);
        await back.until(line.length);
        let isDone = false;
        const wasDone = new Promise<boolean>((resolve) => transport.onExit(() => resolve(isDone)));
        transport.kill();
        isDone = true;
        expect(await wasDone).toBe(true);
      });
    });
  });
}
