// Shows the prompts that wait for the end of a turn, and changes or removes them.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { QueueActions, QueueTopics } from '../protocol/queue.ts';
import type { ActionsOf, Handlers, TopicsOf } from '../server/screens.ts';

export type QueueDeps = {
  readonly queued: (sessionId: string) => readonly { readonly id: string; readonly text: string }[];
  /** False when the prompt no longer waits. */
  readonly change: (sessionId: string, id: string, text: string | undefined) => boolean;
  readonly redact: Redactor;
};

const LOOK_EVERY_MS = 300;
const sessionId = z.string().min(1).max(2000);

export function queueHandlers({ queued, change, redact }: QueueDeps): Handlers {
  const shown = ({ id, text }: { readonly id: string; readonly text: string }) => {
    const clean = neutralise(redact(text));
    return { id, text: clean, isWhole: clean === text };
  };
  const actions: ActionsOf<QueueActions> = {
    changeQueued: {
      params: z.strictObject({
        sessionId,
        id: z.string().min(1).max(2000),
        text: z
          .string()
          .trim()
          .min(1)
          .max(16 * 1024 * 1024)
          .nullable(),
      }),
      perform(given) {
        if (!change(given.sessionId, given.id, given.text ?? undefined))
          throw new ClientError(-32600, 'the prompt no longer waits: the agent has it, or it was removed');
      },
    },
  };
  const topics: TopicsOf<QueueTopics> = {
    queued: {
      params: z.strictObject({ sessionId }),
      subscribe({ sessionId: id }, send, page) {
        let before = '';
        const look = () => {
          if (page.isBehind) return;
          const prompts = queued(id).map(shown);
          const text = JSON.stringify(prompts);
          if (text === before) return;
          before = text;
          send({ prompts });
        };
        look();
        const timer = setInterval(look, LOOK_EVERY_MS);
        return () => clearInterval(timer);
      },
    },
  };
  return { actions, topics };
}
