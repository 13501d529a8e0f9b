// The open permission requests of a principal. All its pages see them, a page that comes later too, and the first answer counts.
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { JsonObject } from '../json-object.ts';
import type { Broadcast } from './frames.ts';
import { refusals } from './refusal.ts';
import { toPageRequest } from './updates.ts';

type Question = {
  readonly sessionId: string;
  readonly message: Broadcast;
  readonly optionIds: readonly string[];
  settle(outcome: RequestPermissionResponse['outcome']): void;
};

export type Questions = {
  /** Resolves with the answer of a page; `cancelled` once `signal` is aborted. */
  ask(params: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  /** Throws if the request is not open, or has no such option. */
  answer(requestId: number, answer: { readonly outcome: 'selected' | 'cancelled'; readonly optionId?: string | undefined }): void;
  /** The turn of a session is cancelled, and with it what it asks. */
  cancel(sessionId: string): void;
  /** For a page that has just come. */
  open(): readonly Broadcast[];
  stop(): void;
};

export function createQuestions(broadcast: (message: Broadcast) => void): Questions {
  const open = new Map<number, Question>();
  let count = 0;
  return {
    ask(params, signal) {
      const requestId = ++count;
      const request = toPageRequest(params as unknown as JsonObject);
      const message: Broadcast = { type: 'permission_request', requestId, request };
      return new Promise((resolve) => {
        const settle: Question['settle'] = (outcome) => {
          if (!open.delete(requestId)) return;
          signal.removeEventListener('abort', withdraw);
          broadcast({ type: 'permission_resolved', requestId, ...outcome });
          resolve({ outcome });
        };
        const withdraw = () => settle({ outcome: 'cancelled' });
        open.set(requestId, { sessionId: params.sessionId, message, optionIds: params.options.map(({ optionId }) => optionId), settle });
        if (signal.aborted) return withdraw();
        signal.addEventListener('abort', withdraw, { once: true });
        broadcast(message);
      });
    },
    answer(requestId, { outcome, optionId }) {
      const question = open.get(requestId);
      if (!question) throw refusals.questionUnknown(requestId);
      if (outcome === 'cancelled') return question.settle({ outcome });
      if (optionId === undefined) throw refusals.optionMissing();
      if (!question.optionIds.includes(optionId)) throw refusals.optionUnknown(optionId, question.optionIds);
      question.settle({ outcome, optionId });
    },
    cancel(sessionId) {
      for (const question of [...open.values()]) if (question.sessionId === sessionId) question.settle({ outcome: 'cancelled' });
    },
    open: () => [...open.values()].map(({ message }) => message),
    stop() {
      for (const { settle } of [...open.values()]) settle({ outcome: 'cancelled' });
    },
  };
}
