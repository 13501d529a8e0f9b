// What was said in sessions of before, looked through and put into a file, for the console.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transcripts } from '../../console/console.ts';
import type { SessionRow } from '../../console/wire/board.ts';
import { readTranscript, transcriptsDir } from '../../store/transcript-files.ts';
import { toMarkdown, wordsOf } from '../render-transcript.ts';

/** Of one transcript; the end counts. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FOUND = 50;

/** `settle` writes what is still in memory. */
export function transcriptsOf(stateDir: string, stored: () => readonly SessionRow[], settle: () => void): Transcripts {
  const dir = transcriptsDir(stateDir);
  return {
    read(sessionId) {
      settle();
      return readTranscript(dir, sessionId);
    },
    async search(words) {
      const needles = words
        .toLowerCase()
        .split(/\s+/)
        .filter((needle) => needle !== '');
      const found: { readonly sessionId: string; readonly line: string }[] = [];
      if (needles.length === 0) return found;
      settle();
      for (const { sessionId } of stored().toSorted((a, b) => b.at - a.at)) {
        if (found.length >= MOST_FOUND) break;
        await nextTurn(); // others have their turn between two files
        const lines = (readTranscript(dir, sessionId, MOST_BYTES) ?? []).map(wordsOf).flatMap((part) => part.split('\n'));
        const whole = lines.join('\n').toLowerCase();
        if (!needles.every((needle) => whole.includes(needle))) continue;
        const line = lines.find((one) => needles.some((needle) => one.toLowerCase().includes(needle))) ?? '';
        found.push({ sessionId, line: line.slice(0, 200) });
      }
      return found;
    },
    markdown(sessionId) {
      settle();
      const row = stored().find((one) => one.sessionId === sessionId);
      const transcript = readTranscript(dir, sessionId);
      if (!row || !transcript) return undefined;
      return toMarkdown({ ...row, created: new Date(transcript[0]?.t ?? row.at).toISOString() }, transcript);
    },
  };
}
