// Progress of a download on stderr: a bar at a terminal, plain lines elsewhere.
import { notice } from '../../output.ts';

export type Progress = { onProgress(received: number, total: number | undefined): void; end(): void };

const CELLS = 24;
const REDRAW_MS = 100;

export function showProgress(what: string, isQuiet = false): Progress {
  const isTerminal = process.stderr.isTTY === true && !isQuiet;
  let last = { received: 0, at: 0 };
  if (!isTerminal) notice(`downloading ${what}`);
  return {
    onProgress(received, total) {
      const now = performance.now();
      const isDue = now - last.at >= REDRAW_MS || received === total;
      last = { received, at: isDue ? now : last.at };
      if (isTerminal && isDue) process.stderr.write(`\r\u001b[K${what} ${bar(received, total)}`);
    },
    end() {
      if (isTerminal) process.stderr.write('\r\u001b[K');
      notice(`downloaded ${megabytes(last.received)} MB`);
    },
  };
}

export function bar(received: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${megabytes(received)} MB`;
  const share = Math.min(1, received / total);
  const full = Math.round(share * CELLS);
  return `[${'#'.repeat(full)}${'-'.repeat(CELLS - full)}] ${Math.floor(share * 100)} %  ${megabytes(received)} of ${megabytes(total)} MB`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
