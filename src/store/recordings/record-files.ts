// Writes a recording to one file, or to one file per session. Each session file starts with the messages before any session.
import { closeSync, constants, openSync, statSync } from 'node:fs';
import { writeAll } from '../append-lines.ts';
import { transcriptFile } from '../transcripts/transcript-files.ts';
import { createRecordingWriter, type Message, type Recorded, type RecordingCleaner } from './recording.ts';

export type RecordFiles = {
  add(entry: Recorded): void;
  /** Writes everything that can be written now. */
  flush(): void;
  end(): void;
};

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
const MORE = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
/** Mostly logins and lists; a session file needs the first of them. */
const MOST_BEFORE = 200;
const MOST_NAMES = 1000;
const MINTS = new Set<unknown>(['session/new', 'session/fork']);

/** Throws if a file exists already or cannot be created. A directory gets one file per session. */
export function createRecordFiles(place: string, clean: RecordingCleaner): RecordFiles {
  const isDirectory = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory ? createSessionFiles(place, clean) : createFile(place, clean);
}

function createFile(file: string, clean: RecordingCleaner): RecordFiles {
  closeSync(openSync(file, NEW, 0o600));
  let lines = '';
  const writer = createRecordingWriter(clean, (line) => {
    lines += line;
  });
  function flush(): void {
    if (lines === '') return;
    const text = lines;
    lines = '';
    const fd = openSync(file, MORE);
    try {
      writeAll(fd, Buffer.from(text));
    } finally {
      closeSync(fd);
    }
  }
  return {
    add: writer.add,
    flush,
    end() {
      writer.end();
      flush();
    },
  };
}

function createSessionFiles(dir: string, clean: RecordingCleaner): RecordFiles {
  const files = new Map<string, RecordFiles>();
  const before: Recorded[] = [];
  /** Pending requests, by sender and id. */
  const pending = new Map<string, { readonly entry: Recorded; readonly session: string | undefined }>();
  const keyOf = (dir: Recorded['dir'], { id }: Message) => `${dir} ${JSON.stringify(id)}`;

  function fileOf(session: string): RecordFiles {
    const known = files.get(session);
    if (known) return known;
    const made = createFreshFile(transcriptFile(dir, session), clean);
    files.set(session, made);
    for (const entry of before) made.add(entry);
    return made;
  }
  function loose(entry: Recorded): void {
    if (before.length < MOST_BEFORE) before.push(entry);
  }
  function answered(entry: Recorded): void {
    const key = keyOf(entry.dir === 'client->agent' ? 'agent->client' : 'client->agent', entry.msg);
    const request = pending.get(key);
    pending.delete(key);
    if (request?.session !== undefined) fileOf(request.session).add(entry);
    const { sessionId } = (entry.msg.result ?? {}) as { sessionId?: unknown };
    if (request && MINTS.has(request.entry.msg.method) && typeof sessionId === 'string') {
      fileOf(sessionId).add(request.entry);
      fileOf(sessionId).add(entry);
    } else if (request?.session === undefined) loose(entry);
  }
  return {
    add(entry) {
      const { dir: from, msg } = entry;
      if (msg.method === undefined) return answered(entry);
      const { sessionId } = (msg.params ?? {}) as { sessionId?: unknown };
      const session = typeof sessionId === 'string' ? sessionId : undefined;
      if (msg.id !== undefined) pending.set(keyOf(from, msg), { entry, session });
      if (session !== undefined) fileOf(session).add(entry);
      else if (!MINTS.has(msg.method)) loose(entry);
    },
    flush() {
      for (const file of files.values()) file.flush();
    },
    end() {
      for (const file of files.values()) file.end();
    },
  };
}

/** A session that was recorded before gets another file. */
function createFreshFile(wanted: string, clean: RecordingCleaner): RecordFiles {
  for (let n = 1; ; n++)
    try {
      return createFile(n === 1 ? wanted : wanted.replace(/\.jsonl$/, `-${n}.jsonl`), clean);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || n >= MOST_NAMES) throw error;
    }
}
