// Counts frames and bytes of connections. Every frame passes here while metrics are on, so it only adds numbers.
import type { Observer } from '../../wire/observer.ts';
import { endOf, type FrameBatch } from '../../wire/scanner/frame-batch.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Registry, Series } from '../metrics/registry.ts';

export type FrameCounter = {
  received(bytes: number): void;
  receivedBatch(batch: FrameBatch): void;
  sent(bytes: number, patches: readonly Patch[]): void;
  sentBatch(batch: FrameBatch): void;
  sentLine(line: string): void;
  refused(): void;
};

/** `peer` is the other end of the connection. */
export function createFrameCounter(registry: Registry, peer: 'client' | 'agent'): FrameCounter {
  const [from, to] = [`from_${peer}`, `to_${peer}`];
  const [framesIn, framesOut] = [registry.series('frames', from), registry.series('frames', to)];
  const [bytesIn, bytesOut] = [registry.series('frameBytes', from), registry.series('frameBytes', to)];
  const refusedLines = registry.series('refusedLines', from);
  const count = (frames: Series, bytes: Series, batch: FrameBatch) => {
    frames.value += batch.ends.length;
    bytes.value += endOf(batch) - batch.first.start;
  };
  return {
    received(bytes) {
      framesIn.value++;
      bytesIn.value += bytes + 1;
    },
    receivedBatch: (batch) => count(framesIn, bytesIn, batch),
    sent(bytes, patches) {
      framesOut.value++;
      bytesOut.value += bytes + 1;
      for (const { span, text } of patches) bytesOut.value += Buffer.byteLength(text) - (span.end - span.start);
    },
    sentBatch: (batch) => count(framesOut, bytesOut, batch),
    sentLine(line) {
      framesOut.value++;
      bytesOut.value += Buffer.byteLength(line);
    },
    refused() {
      refusedLines.value++;
    },
  };
}

/** The observer of an agent's connection. */
export function observeAgent(counter: FrameCounter): Observer {
  return {
    received: ({ start, end }) => counter.received(end - start),
    receivedBatch: counter.receivedBatch,
    sent: ({ start, end }, patches) => counter.sent(end - start, patches),
    sentBatch: counter.sentBatch,
    sentLine: counter.sentLine,
    refused: counter.refused,
  };
}
