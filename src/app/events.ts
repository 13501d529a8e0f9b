// Events for the program that embeds the switchboard. They hold no secrets, and nothing waits for their listener.

import type { AuditEntry } from '../audit/audit-line.ts';
import type { ToolEvent } from '../mcp/server/call-tool.ts';
import type { Secrets } from '../redaction/redact.ts';
import { createLiveCleaner } from '../redaction/redact-stream.ts';
import type { Side } from '../store/frame-log/frame-lines.ts';
import type { Transport } from '../transports/transport.ts';
import { type Observer, patchedText } from '../wire/observer.ts';
import type { SwitchboardEvent } from './api.ts';
import type { MessageLevel } from './diagnostics.ts';

export type Listener = {
  readonly onAgent: (agent: string, child: Transport) => void;
  readonly onTool: (event: ToolEvent) => void;
  /** Its texts are redacted. */
  readonly onDecision: (entry: AuditEntry) => void;
  /** A turn is cancelled because its agent is silent. */
  readonly onStallCancel: (sessionId: string) => void;
};

export const NO_LISTENER: Listener = { onAgent: () => {}, onTool: () => {}, onDecision: () => {}, onStallCancel: () => {} };

/** `emit` must not throw. */
export function listenerFor(emit: (event: SwitchboardEvent) => void): Listener {
  return {
    onAgent(agent, child) {
      if (child.pid !== undefined) emit({ type: 'agent-started', agent, pid: child.pid });
      child.onExit((exit) => {
        if (exit.kind !== 'exited') emit({ type: 'agent-exited', agent, code: null, signal: null, why: exit.why });
        else emit({ type: 'agent-exited', agent, code: exit.code, signal: exit.signal, why: undefined });
      });
    },
    onTool({ kind, sessionId, agent, tool, reason }) {
      if (kind === 'refused-token' || tool === undefined) return;
      emit({ type: 'tool', outcome: kind, tool, agent, sessionId, reason });
    },
    onDecision({ agent, session, method, summary, verdict, why, answeredBy }) {
      emit({ type: 'decision', agent, sessionId: session, method, summary, verdict, why, answeredBy });
    },
    onStallCancel: () => {}, // the session has a notice about it
  };
}

type FrameEvent = Extract<SwitchboardEvent, { type: 'frame' }>;
type Passed = Pick<FrameEvent, 'peer' | 'name' | 'direction'> & {
  readonly text: string;
  readonly clean: ReturnType<typeof createLiveCleaner>;
};

/** Every message on a connection as an event. A frame is copied when it passes; the rest is done later. `emit` must not throw. */
export function frameEvents(secrets: Secrets, emit: (event: FrameEvent) => void): (name: string, side: Side) => Observer {
  let passed: Passed[] = [];
  function drain(): void {
    const all = passed;
    passed = [];
    for (const { text, clean, ...about } of all) emit({ type: 'frame', ...about, message: clean(JSON.parse(text)) });
  }
  return (name, side) => {
    const peer = side === 'agent' ? 'agent' : 'client';
    // A secret may span two chunks, so each direction remembers what came before.
    const cleaners = { received: createLiveCleaner(secrets), sent: createLiveCleaner(secrets) };
    const note = (direction: FrameEvent['direction'], text: string): void => {
      if (passed.length === 0) setImmediate(drain);
      passed.push({ peer, name, direction, text, clean: cleaners[direction] });
    };
    return {
      received: ({ bytes, start, end }) => note('received', bytes.toString('utf8', start, end)),
      sent: (frame, patches) => note('sent', patchedText(frame, patches)),
      sentLine: (line) => note('sent', line),
      refused: () => {}, // no frame; a notice reports it
    };
  };
}

/** Shows a message to people: a command writes it to stderr, the library emits it as an event. */
export type Notify = (text: string, level?: MessageLevel) => void;

/** For a problem that every frame may repeat: only the first one is shown. */
export function notifyOnce(notify: Notify, messageOf: (error: unknown) => string): (error: unknown) => void {
  let isShown = false;
  return (error) => {
    if (!isShown) notify(messageOf(error));
    isShown = true;
  };
}
