// Recorded traffic of real agents: what the client sent, what it must receive, and the frames of one session.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json } from './peer.ts';

/** One line of a recording. */
export type Entry = { readonly proc: number; readonly dir: 'client->agent' | 'agent->client'; readonly msg: Json };

const FOLDER = path.resolve(import.meta.dirname, '../recordings');

export const agentsRecorded: readonly string[] = readdirSync(FOLDER).flatMap((name) =>
  name.endsWith('.ndjson') ? [name.slice(0, -'.ndjson'.length)] : [],
);

export const fileOf = (agent: string): string => path.join(FOLDER, `${agent}.ndjson`);

export function readRecording(agent: string): readonly Entry[] {
  return readFileSync(fileOf(agent), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export const isRequest = (msg: Json): boolean => msg.method !== undefined && msg.id !== undefined;

/**
 * The order a client sees: updates of a session that precede the response to session/new wait until behind it, the one place where order
 * takes precedence over likeness.
 */
export function asSeen(entries: readonly Entry[]): readonly Entry[] {
  const opening = new Set(entries.flatMap(({ dir, msg }) => (dir === 'client->agent' && msg.method === 'session/new' ? [msg.id] : [])));
  const ordered: Entry[] = [];
  const held: Entry[] = [];
  const known = new Set(entries.flatMap(({ msg }) => (/^session\/(load|resume)$/.test(msg.method) ? [msg.params.sessionId] : [])));
  for (const entry of entries) {
    const { dir, msg } = entry;
    if (dir === 'agent->client' && msg.method === 'session/update' && !known.has(msg.params.sessionId)) {
      held.push(entry);
      continue;
    }
    ordered.push(entry);
    if (dir === 'client->agent' || msg.method !== undefined || !opening.has(msg.id) || msg.result === undefined) continue;
    known.add(msg.result.sessionId);
    ordered.push(...held.splice(0));
  }
  return ordered;
}

/** initialize and all of the first session of the first run, and nothing else. */
export function firstSession(entries: readonly Entry[]): { readonly sessionId: string; readonly entries: readonly Entry[] } {
  const run = entries.filter(({ proc }) => proc === 1);
  const opens = run.find(({ msg }) => msg.method === 'session/new')?.msg;
  const sessionId = run.find(({ dir, msg }) => dir === 'agent->client' && msg.method === undefined && msg.id === opens.id)?.msg.result
    .sessionId;
  const mine = { 'client->agent': new Set<Json>([0, opens.id]), 'agent->client': new Set<Json>() };
  const isMine = ({ dir, msg }: Entry): boolean => {
    if (msg.method === undefined) return mine[dir === 'client->agent' ? 'agent->client' : 'client->agent'].has(msg.id);
    if (msg.method === '$/cancel_request') return mine[dir].has(msg.params.requestId);
    const belongs = msg.params?.sessionId === sessionId || (dir === 'client->agent' && mine[dir].has(msg.id));
    if (belongs && isRequest(msg)) mine[dir].add(msg.id);
    return belongs;
  };
  return { sessionId, entries: run.filter(isMine) };
}
