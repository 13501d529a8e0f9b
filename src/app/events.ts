// Events for the program that embeds the switchboard. They hold no secrets, and nothing waits for their listener.

import type { AuditEntry } from '../audit/audit-line.ts';
import type { ToolEvent } from '../mcp/server/call-tool.ts';
import type { Transport } from '../transports/transport.ts';
import type { SwitchboardEvent } from './api.ts';

export type Listener = {
  readonly onAgent: (agent: string, child: Transport) => void;
  readonly onTool: (event: ToolEvent) => void;
  /** Its texts are redacted. */
  readonly onDecision: (entry: AuditEntry) => void;
};

export const NO_LISTENER: Listener = { onAgent: () => {}, onTool: () => {}, onDecision: () => {} };

/** `emit` must not throw. */
export function listenerFor(emit: (event: SwitchboardEvent) => void): Listener {
  return {
    onAgent(agent, child) {
      if (child.pid !== undefined) emit({ type: 'agent-started', agent, pid: child.pid });
      child.onExit((exit) => {
        if (exit.kind === 'unstartable') emit({ type: 'agent-exited', agent, code: null, signal: null, why: exit.why });
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
  };
}

/** Shows a message to people: a command writes it to stderr, the library emits it as an event. */
export type Notify = (text: string) => void;

/** For a problem that every frame may repeat: only the first one is shown. */
export function notifyOnce(notify: Notify, messageOf: (error: unknown) => string): (error: unknown) => void {
  let isShown = false;
  return (error) => {
    if (!isShown) notify(messageOf(error));
    isShown = true;
  };
}
