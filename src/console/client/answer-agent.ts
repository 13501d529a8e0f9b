// Answers agent requests: permission requests and elicitations go to the pages, files and terminals to the workspace.

import { ClientError } from '../../client/client-error.ts';
import { fields } from '../../json-object.ts';
import { ANOTHER_CLIENT, type PolicyResult } from '../state/pending-requests.ts';
import { list, text } from '../state/read-update.ts';
import type { StateKeeper } from '../state/state.ts';
import type { createTerminalWatch } from '../state/terminal-watch.ts';
import type { Host } from './workspace.ts';

type Deps = {
  readonly state: StateKeeper;
  readonly host: Host;
  readonly terminals: ReturnType<typeof createTerminalWatch>;
  readonly evaluatedRequest: (id: string) => PolicyResult | undefined;
};

const MOST_SENT = 100;
const CANCELLED = { outcome: { outcome: 'cancelled' } };

export function answerAgents({ state, host, terminals, evaluatedRequest }: Deps) {
  /** The pending requests of the pages, by their id on the connection. */
  const shown = new Map<string, string>();
  /** The session of each elicitation that sent the user to a URL. */
  const sent = new Map<string, string>();
  function awaitArrival(elicitationId: string, sessionId: string): void {
    sent.set(elicitationId, sessionId);
    // Agents need not report completion, so drop the oldest.
    if (sent.size > MOST_SENT) for (const oldest of [...sent.keys()].slice(0, 1)) sent.delete(oldest);
  }
  return {
    async request(method: string, value: unknown, signal: AbortSignal, id: string): Promise<unknown> {
      const params = fields(value);
      const sessionId = String(params.sessionId);
      if (method === 'session/request_permission') {
        const hooks = { policyResult: evaluatedRequest(id), opened: (requestId: string) => void shown.set(id, requestId) };
        const { option } = await state.ask(sessionId, params, signal, hooks).finally(() => shown.delete(id));
        const chosen = option === undefined ? undefined : fields(list(params.options)[option]).optionId;
        return chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen } };
      }
      if (method === 'elicitation/create') {
        const opened = (requestId: string) => void shown.set(id, requestId);
        const { reply = { action: 'cancel' } } = await state
          .elicit(text(params.sessionId), params, signal, { opened })
          .finally(() => shown.delete(id));
        if (reply.action === 'accept' && typeof params.elicitationId === 'string') awaitArrival(params.elicitationId, sessionId);
        return reply;
      }
      if (!method.startsWith('fs/') && !method.startsWith('terminal/')) throw new ClientError(-32601, `Method not found: ${method}`);
      if (!state.row(sessionId)) throw new ClientError(-32602, `There is no session "${sessionId}"`);
      if (method === 'terminal/release') await terminals.last(sessionId, params.terminalId);
      const result = await host.serve(sessionId, method, params);
      if (method === 'terminal/create') terminals.begin(sessionId, String(fields(result).terminalId));
      return result;
    },
    /** Another client of the daemon was first. Its answer is not known here; the withdrawal of the request follows. */
    answeredElsewhere(id: string): void {
      const requestId = shown.get(id);
      if (requestId !== undefined) state.settle(requestId, { option: undefined, by: ANOTHER_CLIENT });
    },
    /** The user completed the elicitation at its URL. */
    arrived(elicitationId: string): void {
      const sessionId = sent.get(elicitationId);
      sent.delete(elicitationId);
      if (sessionId !== undefined) state.event(sessionId, { e: 'note', text: 'The step in the browser is complete.' });
    },
  };
}
