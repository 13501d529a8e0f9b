// Sends a request of the Frames screen to its agent once more. Only requests of the console's own sessions, exactly as they were.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { ConsoleClient } from '../client/console-client.ts';
import type { FrameActions } from '../protocol/frames.ts';
import type { PromptBlock } from '../protocol/sessions.ts';
import type { ActionsOf } from '../server/screens.ts';
import { cleanValue } from '../state/clean-text.ts';
import type { Frames } from '../state/frames.ts';
import { shown } from '../state/read-update.ts';

export type ResendDeps = {
  readonly frames: Pick<Frames, 'kept'>;
  /** Throws for a session that another client owns. */
  readonly holder: (sessionId: string) => ConsoleClient;
  readonly isLive: (sessionId: string) => boolean;
  readonly redact: Redactor;
};

/** Requests that open nothing: a session that is opened twice would have two owners. */
const ALLOWED = new Set(['session/prompt', 'session/set_mode', 'session/set_model', 'session/set_config_option']);

export function resendActions({ frames, holder, isLive, redact }: ResendDeps): ActionsOf<Pick<FrameActions, 'resendFrame'>> {
  const refuse = (why: string) => new ClientError(-32602, why);
  return {
    resendFrame: {
      params: z.strictObject({ n: z.int().nonnegative() }),
      async perform({ n }) {
        const kept = frames.kept(n);
        if (!kept) throw refuse('the content of this frame is not kept any more');
        const { record, body } = kept;
        const { method, params } = fields(JSON.parse(body));
        if (record.kind !== 'request' || record.dir !== 'fromEditor') throw refuse('only requests of a client can be sent again');
        if (typeof method !== 'string' || !(ALLOWED.has(method) || method.startsWith('_')))
          throw refuse(`"${neutralise(String(method))}" cannot be sent again from here`);
        // The content is kept redacted: what was removed cannot be sent.
        if (/\[redacted/.test(body)) throw refuse('the frame holds a secret, which is not kept; so it cannot be sent as it was');
        const { sessionId, prompt } = fields(params);
        if (typeof sessionId !== 'string' || !isLive(sessionId)) throw refuse('its session is not open here');
        const client = holder(sessionId);
        if (method === 'session/prompt') {
          await client.prompt({ sessionId, blocks: prompt as readonly PromptBlock[] });
          return { answer: 'The prompt was sent. Its session shows the turn.' };
        }
        return { answer: shown(cleanValue(await client.resend(method, fields(params)), redact)) ?? 'null' };
      },
    },
  };
}
