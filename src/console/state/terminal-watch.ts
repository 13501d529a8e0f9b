// Shows terminal output while programs run. Polls, because nothing announces new output.

import { neutraliseOutput } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Host } from '../client/workspace.ts';
import type { Output } from '../protocol/conversation.ts';
import { text } from './read-update.ts';
import type { StateKeeper } from './state.ts';

const LOOK_EVERY_MS = 250;
const MAX_CHARACTERS = 64 * 1024;
/** Read but not shown: a secret that the limit cuts could not be recognised by its end. */
const MARGIN = 8 * 1024;

type Watched = { readonly sessionId: string; shown: string };

export function createTerminalWatch(state: StateKeeper, host: Host, redact: Redactor) {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(terminalId: string, about: Watched): Promise<void> {
    const { sessionId } = about;
    try {
      const result = fields(await host.serve(sessionId, 'terminal/output', { sessionId, terminalId }));
      if (isStopped) return;
      const output = outputOf(result, redact);
      if (output.exit !== undefined) watched.delete(terminalId);
      const shown = JSON.stringify(output);
      if (shown === about.shown) return;
      about.shown = shown;
      state.event(sessionId, { e: 'output', terminalId, output });
    } catch {
      watched.delete(terminalId); // it was released meanwhile
    }
  }
  function schedule(): void {
    if (watched.size === 0 || isStopped) return;
    timer ??= setTimeout(async () => {
      await Promise.all([...watched].map(([terminalId, about]) => look(terminalId, about)));
      timer = undefined;
      schedule();
    }, LOOK_EVERY_MS);
  }

  return {
    begin(sessionId: string, terminalId: string): void {
      watched.set(terminalId, { sessionId, shown: '' });
      schedule();
    },
    /** Shows the final output before the terminal is released. */
    async last(sessionId: string, terminalId: unknown): Promise<void> {
      if (typeof terminalId === 'string') await look(terminalId, watched.get(terminalId) ?? { sessionId, shown: '' });
    },
    /** Also stops polls in flight: they show nothing and are not repeated. */
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function outputOf({ output, truncated, exitStatus }: ReturnType<typeof fields>, redact: Redactor): Output {
  const whole = text(output) ?? '';
  const { exitCode, signal } = fields(exitStatus);
  const isOver = typeof exitStatus === 'object' && exitStatus !== null;
  return {
    text: neutraliseOutput(redact(whole.slice(-MAX_CHARACTERS - MARGIN)).slice(-MAX_CHARACTERS)),
    isTruncated: truncated === true || whole.length > MAX_CHARACTERS,
    exit: isOver ? (typeof signal === 'string' ? signal : `exit ${String(exitCode ?? 'unknown')}`) : undefined,
  };
}
