// `-o jsonl`: every frame of the agent's connection, in both directions, exactly as it is on the wire.
import type { ExtraObserver } from '../../app/records.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { createLiveCleaner, type LiveCleaner } from '../../redaction/redact-stream.ts';
import type { Transport } from '../../transports/transport.ts';
import { type Observer, patchedText } from '../../wire/observer.ts';

export type FrameMirror = {
  readonly extraObserver: (secrets: Secrets) => ExtraObserver;
  readonly onAgent: (name: string, child: Pick<Transport, 'pid'>) => void;
};

export type MirrorOptions = {
  readonly write: (line: string) => void;
  /** Prints known secrets as they are. */
  readonly isRaw: boolean;
  /** The command of an agent. */
  readonly commandOf: (agent: string) => string | undefined;
};

/** Nothing is printed for an agent that does not start. A remote agent has started when its first frame comes; until then its frames wait. */
export function createFrameMirror({ write, isRaw, commandOf }: MirrorOptions): FrameMirror {
  const started = new Set<string>();
  let isAnnounced = false;
  function start(name: string): void {
    started.add(name);
    // Without arguments and environment, which may contain secrets.
    const announcement = { jsonrpc: '2.0', method: 'client/selected_agent', params: { name, command: commandOf(name) } };
    if (!isAnnounced) write(JSON.stringify(announcement));
    isAnnounced = true;
  }
  return {
    onAgent: (name, child) => child.pid !== undefined && start(name),
    extraObserver: (secrets) => (connection, side) => {
      const name = connection.replace(/#\d+$/, '');
      const clean = createLiveCleaner(secrets.known, (value) => value);
      let waiting: string[] = [];
      const show = (line: string): void => {
        if (side !== 'agent') return;
        waiting.push(line);
        if (!started.has(name)) return;
        const lines = waiting;
        waiting = [];
        for (const one of lines) write(isRaw ? one : secrets.known.redact(withoutSplitSecrets(one, clean)));
      };
      const observer: Observer = {
        received({ bytes, start: from, end }) {
          if (side === 'agent' && !started.has(name)) start(name);
          show(bytes.toString('utf8', from, end));
        },
        sent: (frame, patches) => show(patchedText(frame, patches)),
        sentLine: (line) => show(line.trimEnd()),
        refused: () => {}, // no frame: the proxy reports it
      };
      return observer;
    },
  };
}

/** A known secret may span two chunks. A line without one stays exactly as it is. */
function withoutSplitSecrets(line: string, clean: LiveCleaner): string {
  const message = JSON.parse(line);
  const shown = JSON.stringify(clean(message));
  return shown === JSON.stringify(message) ? line : shown;
}
