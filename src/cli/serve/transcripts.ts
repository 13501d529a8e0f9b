// Stored transcripts: search, export and deletion.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transcripts } from '../../console/console.ts';
import type { SessionRow } from '../../console/protocol/state.ts';
import { readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import { toMarkdown, wordsOf } from '../records/render-transcript.ts';
import { forgetSession } from '../records/sessions.ts';

/** Bytes read of one transcript, from its end. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FOUND = 100;
const MOST_LINES = 3;

/** `stored` lists all sessions. `settle` flushes pending writes. */
export function transcriptsOf(stateDir: string, stored: () => readonly SessionRow[], settle: () => void): Transcripts {
  const dir = transcriptsDir(stateDir);
  /** Lines that contain one of the terms; undefined when a term is missing. */
  function linesWith(sessionId: string, needles: readonly string[]): readonly string[] | undefined {
    const lines = (readTranscript(dir, sessionId, MOST_BYTES) ?? []).map(wordsOf).flatMap((part) => part.split('\n'));
    const whole = lines.join('\n').toLowerCase();
    if (!needles.every((needle) => whole.includes(needle))) return undefined;
    const hits = lines.filter((line) => needles.some((needle) => line.toLowerCase().includes(needle)));
    return hits.slice(0, MOST_LINES).map((line) => around(line, needles));
  }
  return {
    read(sessionId) {
      settle();
      return readTranscript(dir, sessionId);
    },
    async search(query, agent) {
      const needles = query
        .toLowerCase()
        .split(/\s+/)
        .filter((needle) => needle !== '');
      settle();
      const wanted = stored()
        .filter((row) => agent === undefined || row.agent === agent)
        .toSorted((a, b) => b.at - a.at);
      const found: { readonly row: SessionRow; readonly lines: readonly string[] }[] = [];
      for (const row of wanted) {
        if (found.length >= MOST_FOUND) return { found, isAll: false };
        if (needles.length > 0) await nextTurn(); // yield between files
        const lines = needles.length === 0 ? [] : linesWith(row.sessionId, needles);
        if (lines) found.push({ row, lines });
      }
      return { found, isAll: true };
    },
    text(sessionId, format) {
      settle();
      const row = stored().find((one) => one.sessionId === sessionId);
      const transcript = readTranscript(dir, sessionId);
      if (!row || !transcript) return undefined;
      const title = row.title === '' ? undefined : row.title;
      const created = new Date(transcript[0]?.t ?? row.at).toISOString();
      if (format === 'md') return toMarkdown({ ...row, title, created }, transcript);
      const { agent, cwd, turns, stopReason } = row;
      return `${JSON.stringify({ session: { sessionId, agent, cwd, created, turns, title, stopReason }, transcript }, null, 2)}\n`;
    },
    remove(sessionId) {
      settle();
      forgetSession(stateDir, sessionId);
    },
  };
}

/** An excerpt of a long line around the term. */
function around(line: string, needles: readonly string[]): string {
  const low = line.toLowerCase();
  const at = Math.max(0, Math.min(...needles.map((needle) => low.indexOf(needle)).filter((place) => place >= 0)) - 60);
  const part = line.slice(at, at + 200);
  return `${at > 0 ? '…' : ''}${part}${at + 200 < line.length ? '…' : ''}`;
}
