// What whoever embeds the switchboard hears of: nothing that holds a secret, and nothing that could hold up a frame.

import type { AuditEntry } from '../audit/audit-line.ts';
import type { ToolEvent } from '../mcp/server/call-tool.ts';
import type { Transport } from '../transports/transport.ts';
import type { SwitchboardEvent } from './api.ts';

export type Listener = {
  readonly onAgent: (agent: string, child: Transport) => void;
  readonly onTool: (event: ToolEvent) => void;
  /** Its words are cleaned of secrets. */
  readonly onDecision: (entry: AuditEntry) => void;
};

export const UNHEARD: Listener = { onAgent: () => {}, onTool: () => {}, onDecision: () => {} };

/** `tell` never throws. */
export function listenerFor(tell: (event: SwitchboardEvent) => void): Listener {
  return {
    onAgent(agent, child) {
      if (child.pid !== undefined) tell({ type: 'agent-started', agent, pid: child.pid });
      child.onExit((exit) => {
        if (exit.kind === 'unstartable') tell({ type: 'agent-exited', agent, code: null, signal: null, why: exit.why });
        else tell({ type: 'agent-exited', agent, code: exit.code, signal: exit.signal, why: undefined });
      });
    },
    onTool({ kind, sessionId, agent, tool, reason }) {
      if (kind === 'refused-token' || tool === undefined) return;
      tell({ type: 'tool', outcome: kind, tool, agent, sessionId, reason });
    },
    onDecision({ agent, session, method, summary, verdict, why, answeredBy }) {
      tell({ type: 'decision', agent, sessionId: session, method, summary, verdict, why, answeredBy });
    },
  };
}

/** Words for people: to stderr for a command, to whoever embeds the switchboard otherwise. */
export type Say = (text: string) => void;

/** For a problem that may come again with every frame: said the first time only. */
export function sayOnce(say: Say, words: (error: unknown) => string): (error: unknown) => void {
  let isSaid = false;
  return (error) => {
    if (!isSaid) say(words(error));
    isSaid = true;
  };
}
