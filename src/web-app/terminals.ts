// The terminals of a principal, of its pages and of its agents: their output goes to all pages as it comes, and a page that comes later can
// read what was before. Text is redacted.
import type { Redactors } from '../redaction/redact.ts';
import { following } from '../redaction/redact-pieces.ts';
import type { ExitStatus, TerminalNews } from '../workspace/terminal.ts';
import type { Broadcast } from './frames.ts';

export type TerminalState = { readonly output: string; readonly truncated: boolean; readonly exitStatus?: ExitStatus };

export type TerminalLog = {
  /** `of` says who started it; a page's terminal is silent until `announce`. */
  heard(of: 'page' | 'agent', terminalId: string, news: TerminalNews): void;
  /** The page knows its terminal by now: sends what came meanwhile. */
  announce(terminalId: string): void;
  ownerOf(terminalId: string): 'page' | 'agent' | undefined;
  /** What was shown of a terminal of an agent. */
  stateOf(terminalId: string): TerminalState | undefined;
  forget(terminalId: string): void;
};

type Kept = {
  readonly of: 'page' | 'agent';
  output: string;
  truncated: boolean;
  exitStatus?: ExitStatus;
  /** The end of the raw text of each stream, which a secret may continue. */
  readonly tails: Record<'stdout' | 'stderr', string>;
  /** Not sent yet; undefined once the page knows the terminal. */
  waiting: Broadcast[] | undefined;
};

const MOST_KEPT = 64;
const MAX_CHARACTERS = 64 * 1024;

export function createTerminalLog(broadcast: (message: Broadcast) => void, secrets: Redactors): TerminalLog {
  const kept = new Map<string, Kept>();

  function keep(of: Kept['of'], terminalId: string): Kept {
    const known = kept.get(terminalId);
    if (known) return known;
    const terminal: Kept = { of, output: '', truncated: false, tails: { stdout: '', stderr: '' }, waiting: of === 'page' ? [] : undefined };
    kept.set(terminalId, terminal);
    // Those of agents end without notice.
    const [oldest] = [...kept].filter(([, one]) => one.of === 'agent' && one.exitStatus).map(([id]) => id);
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return terminal;
  }
  function send({ waiting }: Kept, message: Broadcast): void {
    if (waiting) waiting.push(message);
    else broadcast(message);
  }
  return {
    heard(of, terminalId, news) {
      const terminal = keep(of, terminalId);
      if ('exitStatus' in news) {
        terminal.exitStatus = news.exitStatus;
        return send(terminal, { type: 'terminal_exit', terminalId, exitStatus: news.exitStatus });
      }
      const { stream, text } = news;
      const before = terminal.tails[stream];
      const chunk = following(secrets.redactStreamed, before, text);
      terminal.tails[stream] = (before + text).slice(-secrets.longest());
      terminal.output += chunk;
      if (terminal.output.length > MAX_CHARACTERS) {
        terminal.output = terminal.output.slice(-MAX_CHARACTERS);
        terminal.truncated = true;
      }
      if (chunk !== '') send(terminal, { type: 'terminal_output', terminalId, chunk, stream });
    },
    announce(terminalId) {
      const terminal = keep('page', terminalId);
      const waiting = terminal.waiting ?? [];
      terminal.waiting = undefined;
      for (const message of waiting) broadcast(message);
    },
    ownerOf: (terminalId) => kept.get(terminalId)?.of,
    stateOf(terminalId) {
      const terminal = kept.get(terminalId);
      if (!terminal) return undefined;
      const { output, truncated, exitStatus } = terminal;
      return { output, truncated, ...(exitStatus && { exitStatus }) };
    },
    forget: (terminalId) => void kept.delete(terminalId),
  };
}
