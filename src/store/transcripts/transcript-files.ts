// Transcript files: one file of JSON lines per session.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { isObject, type JsonObject } from '../../json-object.ts';
import type { TranscriptRecord } from './transcript-record.ts';

export const transcriptsDir = (stateDir: string): string => path.join(stateDir, 'transcripts');

/** Agents choose session ids; an id that is no plain file name is hashed. */
export function transcriptFile(dir: string, sessionId: string): string {
  const isPlain = /^[A-Za-z0-9_][\w.-]{0,99}$/.test(sessionId) && sessionId !== 'index';
  const name = isPlain ? sessionId : `~${createHash('sha256').update(sessionId).digest('hex').slice(0, 32)}`;
  return path.join(dir, `${name}.jsonl`);
}

/** Nobody reads more, and reading blocks the process. The end of the transcript counts. */
export const MOST_BYTES = 8 * 1024 * 1024;

export const hasTranscript = (dir: string, sessionId: string): boolean => existsSync(transcriptFile(dir, sessionId));

/** 0 if there is none. */
export const transcriptBytes = (dir: string, sessionId: string): number =>
  statSync(transcriptFile(dir, sessionId), { throwIfNoEntry: false })?.size ?? 0;

/** Undefined if there is none. Reads `upTo` bytes of it. Above `mostBytes`, returns the end and the size of the omitted part. */
export function readTranscript(
  dir: string,
  sessionId: string,
  mostBytes = Number.POSITIVE_INFINITY,
  upTo = Number.POSITIVE_INFINITY,
): readonly TranscriptRecord[] | undefined {
  const found = readText(transcriptFile(dir, sessionId), mostBytes, upTo);
  if (!found) return undefined;
  const records = jsonLines(found.text.split('\n')).filter(
    (line): line is TranscriptRecord => typeof line.kind === 'string' && typeof line.t === 'number',
  );
  return found.before === 0 ? records : [{ kind: 'omitted', bytes: found.before, t: records[0]?.t ?? 0 }, ...records];
}

/** Skips incomplete lines and lines that are no object. */
export function readJsonLines(file: string): readonly JsonObject[] | undefined {
  const found = readText(file, Number.POSITIVE_INFINITY);
  return found && jsonLines(found.text.split('\n'));
}

/** The end of a file in whole lines, and the number of bytes before it. */
function readText(
  file: string,
  mostBytes: number,
  upTo = Number.POSITIVE_INFINITY,
): { readonly text: string; readonly before: number } | undefined {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const fileBytes = fstatSync(fd).size;
    const size = Math.min(fileBytes, upTo);
    if (size === fileBytes && size <= mostBytes) return { text: readFileSync(fd, 'utf8'), before: 0 };
    const length = Math.min(size, mostBytes);
    const bytes = Buffer.alloc(length);
    const end = bytes.subarray(0, readSync(fd, bytes, 0, length, size - length));
    if (size === length) return { text: end.toString('utf8'), before: 0 };
    const whole = end.indexOf(0x0a) + 1;
    return { text: end.toString('utf8', whole), before: size - length + whole };
  } finally {
    closeSync(fd);
  }
}

export function jsonLines(lines: readonly string[]): readonly JsonObject[] {
  return lines.flatMap((line) => {
    if (line === '') return [];
    try {
      const value = JSON.parse(line);
      return isObject(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

export function removeTranscript(dir: string, sessionId: string): boolean {
  const file = transcriptFile(dir, sessionId);
  if (!existsSync(file)) return false;
  rmSync(file, { force: true });
  return true;
}

/** Deletes transcripts that are too old, then the oldest while there are too many. */
export function pruneTranscripts(dir: string, bounds: { readonly maxAgeMs: number; readonly maxTotalBytes: number }, nowMs: number): void {
  if (!existsSync(dir)) return;
  const files = readdirSync(dir).flatMap((name) => {
    const file = path.join(dir, name);
    const about = statSync(file, { throwIfNoEntry: false });
    return name.endsWith('.jsonl') && name !== 'index.jsonl' && about ? [{ file, bytes: about.size, changedMs: about.mtimeMs }] : [];
  });
  let left = bounds.maxTotalBytes;
  for (const { file, bytes, changedMs } of files.toSorted((a, b) => b.changedMs - a.changedMs)) {
    left -= bytes;
    if (left < 0 || nowMs - changedMs > bounds.maxAgeMs) rmSync(file, { force: true });
  }
}
