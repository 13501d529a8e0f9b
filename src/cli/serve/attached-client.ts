// The console attached to an editor: it shows the editor's sessions. The first answer to a request counts, from either place.

import type { Attached } from '../../console/console.ts';
import { list, text } from '../../console/state/read-update.ts';
import type { StateKeeper } from '../../console/state/state.ts';
import { eventsOfTranscript } from '../../console/state/transcript-events.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { RunningProxy } from '../../proxy/api.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';
import { type ClientWatch, NOTHING_ACCEPTED } from './watch-client.ts';

export type AttachedClientDeps = {
  readonly connection: Pick<RunningProxy, 'answer' | 'cancel' | 'evaluatedRequest' | 'queuedPrompts' | 'changeQueued'>;
  readonly watch: ClientWatch;
  readonly redact: Redactor;
  /** The transcript so far, complete messages only. */
  readonly transcript: (sessionId: string) => readonly TranscriptRecord[] | undefined;
  /** The session's agent, when the response that opened it does not name one. */
  readonly agentOf: (sessionId: string) => string;
};

type Waiting = { readonly requestId: string; readonly controller: AbortController };

export function attachedClient({ connection, watch, redact, transcript, agentOf }: AttachedClientDeps): (state: StateKeeper) => Attached {
  return (state) => {
    const held = new Set<string>();
    const requests = new Map<string, Waiting>();
    /** Sessions that were in mid-turn when a page connected. Their history is reloaded when the turn ends, because its start was missed. */
    const partial = new Set<string>();
    const clean = (text: string) => neutralise(redact(text));
    const replaceHistory = (sessionId: string) => state.replaceHistory(sessionId, eventsOfTranscript(transcript(sessionId) ?? []));

    watch.begin({
      opened(sessionId, { cwd, agent }, answer) {
        held.add(sessionId);
        state.opened(sessionId, { cwd, agent: agent ?? agentOf(sessionId), accepts: NOTHING_ACCEPTED, isFromClient: true }, answer);
      },
      options: state.options,
      update(sessionId, update) {
        if (watch.isAwake) state.update(sessionId, update);
      },
      prompt: (sessionId, text, blocks) => state.event(sessionId, { e: 'prompt', text: clean(text), blocks }),
      end(sessionId, { stopReason, error }) {
        state.event(sessionId, { e: 'end', stopReason, error: error === undefined ? undefined : clean(error) });
        if (partial.delete(sessionId) && watch.isAwake) replaceHistory(sessionId);
      },
      closed(sessionId) {
        held.delete(sessionId);
        state.closed(sessionId);
      },
      requested(id, sessionId, params) {
        const controller = new AbortController();
        const answers = list(params.options).map(fields);
        void state.ask(sessionId, params, controller.signal, {
          policyResult: connection.evaluatedRequest(id),
          opened: (requestId) => void requests.set(id, { requestId, controller }),
          take(option) {
            const chosen = option === undefined ? undefined : answers[option];
            const how = `${text(chosen?.name) ?? 'dismissed'}: ${text(fields(params.toolCall).title) ?? 'the request'}`;
            return connection.answer({ id, optionId: text(chosen?.optionId), where: 'the console', how });
          },
        });
      },
      elicited(id, sessionId, params) {
        const controller = new AbortController();
        void state.elicit(sessionId, params, controller.signal, {
          opened: (requestId) => void requests.set(id, { requestId, controller }),
          take: (_, reply) => connection.answer({ id, reply, where: 'the console', how: text(params.message) ?? 'the request' }),
        });
      },
      answered(id, option, action) {
        const open = requests.get(id);
        requests.delete(id);
        const known = (['accept', 'decline', 'cancel'] as const).find((one) => one === action);
        if (open) state.settle(open.requestId, { option, by: 'client', reply: known && { action: known } });
      },
      withdrawn(id) {
        requests.get(id)?.controller.abort();
        requests.delete(id);
      },
    });
    return {
      holds: (sessionId) => held.has(sessionId),
      cancel: connection.cancel,
      queued: (sessionId) => connection.queuedPrompts().filter((one) => one.sessionId === sessionId),
      changeQueued: (sessionId, id, text) => connection.changeQueued({ sessionId, id }, text),
      wake() {
        watch.isAwake = true;
        for (const sessionId of held) {
          if (state.conversation(sessionId)?.isRunning) partial.add(sessionId);
          replaceHistory(sessionId);
        }
      },
      sleep() {
        watch.isAwake = false;
      },
    };
  };
}
