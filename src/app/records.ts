// The records of this process: combines the configured observers for every connection.
import path from 'node:path';
import type { Config } from '../config/config.ts';
import { systemClock } from '../proxy/context.ts';
import { createSecretObserver } from '../redaction/learn-secrets.ts';
import type { Secrets } from '../redaction/redact.ts';
import { redactJson } from '../redaction/redact-json.ts';
import { createPieceCleaner } from '../redaction/redact-pieces.ts';
import { createRedactStream } from '../redaction/redact-stream.ts';
import type { Side } from '../store/frame-log/frame-lines.ts';
import { createFrameLog, type FrameLog } from '../store/frame-log/frame-log.ts';
import { createLastFrames } from '../store/frame-log/last-frames.ts';
import { createLineSink } from '../store/frame-log/line-sink.ts';
import { createRecordObserver, type RecordObserver } from '../store/recordings/record-observer.ts';
import { keepTidy } from '../store/transcripts/retention.ts';
import { transcriptsDir } from '../store/transcripts/transcript-files.ts';
import { createTranscriptObserver, type TranscriptObserver } from '../store/transcripts/transcript-observer.ts';
import { createTranscriptSource, type TranscriptSource } from '../store/transcripts/transcript-source.ts';
import { type ConnectionRecords, joinObservers, type Observer } from '../wire/observer.ts';
import { SetupFailure } from './api.ts';
import { type Notify, notifyOnce } from './events.ts';

export type Records = {
  watch(connection: string, side: Side): ConnectionRecords;
  /** The transcripts, to replay sessions; undefined if they are off. */
  readonly transcripts: TranscriptSource | undefined;
  /** Writes everything. */
  close(): Promise<void>;
};

const DAY_MS = 86_400_000;
const MAX_QUEUE_BYTES = 8 * 1024 * 1024;

/** An additional observer for every connection, by name; `down` is called when the peer has exited. */
export type ExtraObserver = (connection: string, side: Side) => Observer & { readonly down?: (reason: string) => void };

export type RecordsOptions = {
  readonly config: Config;
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly notify: Notify;
  /** The name of the connection, unique in this process. */
  readonly name: string;
  /** A file that records every message. */
  readonly recordTo?: string | undefined;
  readonly extraObservers?: readonly ExtraObserver[];
  /** Sessions whose transcripts a network client may add to; undefined: all. */
  readonly mayRecord?: ((sessionId: string) => boolean) | undefined;
};

export function createRecords(options: RecordsOptions): Records {
  const { config, stateDir, secrets, notify: report, name, recordTo, extraObservers = [], mayRecord } = options;
  const onProblem = notifyOnce(report, (error) => `records are not kept: ${secrets.redact(String((error as Error).message))}`);
  const frameLog = openFrameLog(config, stateDir, secrets, onProblem, name);
  const transcripts = config.store.transcripts ? openTranscripts(config, stateDir, secrets, onProblem, mayRecord) : undefined;
  const recording = recordTo === undefined ? undefined : openRecording(recordTo, secrets, onProblem);
  /** A failing record must not end a session. */
  const guarded =
    <A extends readonly unknown[], R>(act: (...args: A) => R, otherwise: R) =>
    (...args: A): R => {
      try {
        return act(...args);
      } catch (error) {
        onProblem(error);
        return otherwise;
      }
    };
  return {
    transcripts: transcripts && createTranscriptSource(transcriptsDir(stateDir), transcripts, secrets.redact, onProblem),
    watch(connection, side) {
      const frames = frameLog?.watch(connection, side);
      const extras = extraObservers.map((observerOf) => observerOf(connection, side));
      const last = side === 'agent' ? createLastFrames(connection, side, secrets, Date.now) : undefined;
      const observers = [
        createSecretObserver(secrets),
        ...(frames ? [frames.observer] : []),
        ...(last ? [last.observer] : []),
        ...(side === 'editor' ? [transcripts, recording].filter((observer) => observer !== undefined) : []),
        ...extras,
      ];
      return {
        observer: joinObservers(observers, onProblem),
        lastFrames: guarded(() => last?.records() ?? [], []),
        down: guarded((reason) => {
          frames?.down(reason);
          for (const extra of extras) extra.down?.(reason);
        }, undefined),
      };
    },
    async close() {
      transcripts?.close();
      recording?.close();
      await frameLog?.close();
    },
  };
}

function openFrameLog(
  { logging }: Config,
  stateDir: string,
  secrets: Secrets,
  onProblem: (error: unknown) => void,
  connection: string,
): FrameLog | undefined {
  if (logging.frames === 'off') return undefined;
  const now = Date.now;
  const sink = createLineSink({
    dir: path.join(stateDir, 'frames'),
    name: `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${connection}`,
    maxFileBytes: logging.maxFileBytes,
    maxTotalBytes: logging.maxTotalBytes,
    maxAgeMs: logging.maxAgeDays * DAY_MS,
    maxQueueBytes: MAX_QUEUE_BYTES,
    now,
    onProblem,
  });
  return createFrameLog({ hasPayloads: logging.frames === 'redacted', sink, secrets, now, monotonicMs: systemClock.monotonicMs });
}

function openTranscripts(
  { store }: Config,
  stateDir: string,
  secrets: Secrets,
  onProblem: (error: unknown) => void,
  mayRecord: RecordsOptions['mayRecord'],
): TranscriptObserver {
  const dir = transcriptsDir(stateDir);
  const stopTidying = keepTidy(dir, { maxAgeMs: store.maxAgeDays * DAY_MS, maxTotalBytes: store.maxTotalBytes }, onProblem);
  const clean = {
    json: (value: unknown) => redactJson(value, secrets.redact),
    text: secrets.redact,
    stream: () => createRedactStream(secrets),
    pieces: () => createPieceCleaner(secrets),
    longest: secrets.longest,
  };
  const observer = createTranscriptObserver({ dir, clean, now: Date.now, onProblem, mayRecord });
  return {
    ...observer,
    close() {
      observer.close();
      stopTidying();
    },
  };
}

function openRecording(file: string, secrets: Secrets, onProblem: (error: unknown) => void): RecordObserver {
  const clean = {
    json: (value: unknown) => redactJson(value, secrets.redact),
    text: secrets.redact,
    pieces: () => createPieceCleaner(secrets),
  };
  try {
    return createRecordObserver(file, clean, () => performance.now(), onProblem);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = code === 'EEXIST' ? 'the file exists already; use another name, or remove it' : 'name a file in an existing directory';
    throw new SetupFailure('RECORD_FILE', `--record ${file} cannot be made (${code})`, hint);
  }
}
