// Session records: in memory, or with --state as one JSON file per session.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { AgentProfile } from './agents.ts';

// Enough of a session to list it, load it with its conversation, or resume it in another process.
export const sessionRecordSchema = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  updatedAt: z.string(),
  modeId: z.string(),
  configValues: z.record(z.string(), z.string()),
  turns: z.number(),
  /** The conversation as its updates, which `session/load` replays. */
  transcript: z.array(z.custom<SessionUpdate>((update) => typeof update === 'object' && update !== null)),
});

export type SessionRecord = z.infer<typeof sessionRecordSchema>;

export function newSessionRecord(profile: AgentProfile, cwd: string): SessionRecord {
  return {
    sessionId: `${profile.name}-${randomUUID()}`,
    cwd,
    title: null,
    updatedAt: new Date().toISOString(),
    modeId: profile.modes[0].id,
    configValues: Object.fromEntries(profile.configOptions.map((option) => [option.id, option.options[0]?.value ?? ''])),
    turns: 0,
    transcript: [],
  };
}

/** Adds an update to the conversation. Joins the chunks of one message. */
export function addToTranscript(transcript: SessionUpdate[], update: SessionUpdate): void {
  const last = transcript.at(-1);
  const before = last?.sessionUpdate === update.sessionUpdate ? spokenText(last) : undefined;
  const added = spokenText(update);
  if (before === undefined || added === undefined) transcript.push(update);
  else transcript[transcript.length - 1] = { ...update, content: { type: 'text', text: before + added } } as SessionUpdate;
}

function spokenText(update: SessionUpdate): string | undefined {
  const spoken = update.sessionUpdate === 'agent_message_chunk' || update.sessionUpdate === 'agent_thought_chunk';
  return spoken && update.content.type === 'text' ? update.content.text : undefined;
}

export type SessionStore = {
  save(record: SessionRecord): void;
  find(sessionId: string): SessionRecord | undefined;
  all(): SessionRecord[];
};

export function createMemoryStore(): SessionStore {
  const records = new Map<string, SessionRecord>();
  return {
    save: (record) => void records.set(record.sessionId, structuredClone(record)),
    find: (sessionId) => structuredClone(records.get(sessionId)),
    all: () => structuredClone([...records.values()]),
  };
}

/** Uses memory if the directory is not usable: a demo must not fail for lack of a place to store itself. */
export function createStore(directory: string | undefined, agentName: string): SessionStore {
  if (directory === undefined) return createMemoryStore();
  try {
    return createDirectoryStore(directory, agentName);
  } catch (error) {
    process.stderr.write(`sessions are kept in memory only: ${(error as Error).message}\n`);
    return createMemoryStore();
  }
}

/** Session ids begin with the agent's name, so both agents can share a directory and see only their own sessions. */
export function createDirectoryStore(directory: string, agentName: string): SessionStore {
  makeDirectory(directory);
  // A session id from the client becomes a file name: only ids of our own form may.
  const ownId = new RegExp(`^${agentName}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);
  const fileOf = (sessionId: string) => path.join(directory, `${sessionId}.json`);
  const find = (sessionId: string) => (ownId.test(sessionId) ? readRecord(fileOf(sessionId)) : undefined);

  return {
    save(record) {
      // Written to a temporary file and renamed: neither a crash nor a concurrent listing sees half a record.
      const temporary = `${fileOf(record.sessionId)}.${process.pid}.tmp`;
      writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
      renameSync(temporary, fileOf(record.sessionId));
    },
    find,
    all: () =>
      readdirSync(directory)
        .map((file) => find(path.basename(file, '.json')))
        .filter((record) => record !== undefined),
  };
}

/** Step by step: below /proc, Node's recursive mkdir never ends. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(path.dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // the other agent was faster
  }
}

/** A missing or damaged file is an unknown session; it must not affect the others. */
function readRecord(file: string): SessionRecord | undefined {
  try {
    return sessionRecordSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
