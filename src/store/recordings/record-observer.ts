// Observes the client connection and records it: all of it in one file, or each session in its own.
import type { Frame } from '../../wire/frame.ts';
import { type Observer, patchedText } from '../../wire/observer.ts';
import type { Patch } from '../../wire/writer.ts';
import { createRecordFiles } from './record-files.ts';
import type { Message, RecordingCleaner } from './recording.ts';

export type RecordObserver = Observer & { close(): void };

/** Frames are formatted later, so they are kept as received, or as a message of our own. */
type Passed = {
  readonly dir: 'client->agent' | 'agent->client';
  readonly frame: Frame | undefined;
  readonly patches: readonly Patch[];
  readonly line: string;
  readonly t: number;
};

/** `place` is a file, or a directory for one file per session. Throws if the file exists already or cannot be created. */
export function createRecordObserver(
  place: string,
  clean: RecordingCleaner,
  monotonicMs: () => number,
  onProblem: (error: unknown) => void,
): RecordObserver {
  const files = createRecordFiles(place, clean);
  const fromMs = monotonicMs();
  const waiting: Passed[] = [];
  let isScheduled = false;
  let isOver = false;

  function note(passed: Omit<Passed, 't'>): void {
    if (isOver) return;
    waiting.push({ ...passed, t: Math.round(monotonicMs() - fromMs) });
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(drain);
  }
  function drain(): void {
    isScheduled = false;
    try {
      for (const { dir, frame, patches, line, t } of waiting.splice(0)) {
        const text = frame ? patchedText(frame, patches) : line.trimEnd();
        const msg: Message = JSON.parse(text);
        files.add({ t, proc: 1, dir, n: Buffer.byteLength(text), msg });
      }
    } catch (error) {
      onProblem(error);
    }
    write(files.flush);
  }
  function write(act: () => void): void {
    if (isOver) return;
    try {
      act();
    } catch (error) {
      isOver = true;
      onProblem(error);
    }
  }

  return {
    received: (frame) => note({ dir: 'client->agent', frame, patches: [], line: '' }),
    sent: (frame, patches) => note({ dir: 'agent->client', frame, patches, line: '' }),
    sentLine: (line) => note({ dir: 'agent->client', frame: undefined, patches: [], line }),
    refused: () => {},
    close() {
      drain();
      write(files.end);
      isOver = true;
    },
  };
}
