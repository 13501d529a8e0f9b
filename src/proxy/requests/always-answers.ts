// "Always" without a policy: an answer with "always" holds for the same request as long as the session lives. The agent gets the answer as
// the client wrote it, and may keep it too; this is for agents that ask again.
import { detach, type Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';
import type { AlwaysAnswerStore, AlwaysStoreOptions } from './always-answer-store.ts';

export class AlwaysAnswers {
  readonly #options: AlwaysStoreOptions;
  /** Loaded with the first answer: most connections never need the analysis of commands. */
  #loaded: AlwaysAnswerStore | undefined;

  constructor(options: AlwaysStoreOptions) {
    this.#options = options;
  }
  async load(): Promise<AlwaysAnswerStore> {
    if (!this.#loaded) {
      const { createAlwaysAnswerStore } = await import('./always-answer-store.ts');
      this.#loaded ??= createAlwaysAnswerStore(this.#options);
    }
    return this.#loaded;
  }
  /** Undefined before the first answer with "always". */
  get store(): AlwaysAnswerStore | undefined {
    return this.#loaded;
  }
}

/** A single agent on stdio gets what the client answers, unless the configuration says otherwise. */
function isOn({ context, pool }: Parts<'context' | 'pool'>, agent: Agent): boolean {
  return (agent.spec.rememberAlways ?? (pool.single && !context.queuesPrompts ? 'off' : 'session')) === 'session';
}

/** The result that answers the agent as the user did before; undefined if the user has to be asked. */
export function recalledAnswer(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, frame: Frame): string | undefined {
  const memory = proxy.context.always?.store;
  if (!memory || !isOn(proxy, session.agent) || session.delegation) return undefined;
  if (![...session.turns].some(({ isCancelled }) => !isCancelled)) return undefined;
  const params = readBody(frame);
  const recalled = params.ok ? memory.recall(session, params.value) : undefined;
  if (!recalled) return undefined;
  const { verdict, optionId, id, what, isFirst } = recalled;
  if (isFirst) {
    const title = `${verdict === 'allow' ? 'Allowed' : 'Rejected'}, as you answered "always"`;
    notifyInSession(proxy, session, 'info', title, `${what}. To be asked again, run: switchboard policy remembered --revoke ${id}`);
  }
  return JSON.stringify({ outcome: { outcome: 'selected', optionId } });
}

const ALWAYS = Buffer.from('_always"');

/** Reads the client's answer to the request; undefined if no answer to it could be kept. */
export function keepIfAlways(proxy: Parts<'context' | 'pool'>, session: Session, frame: Frame): ((answer: Frame) => void) | undefined {
  const { always, report } = proxy.context;
  if (!always || !isOn(proxy, session.agent) || session.delegation) return undefined;
  if (!frame.bytes.subarray(frame.start, frame.end).includes(ALWAYS)) return undefined;
  const request = detach(frame);
  return (answer) => {
    const [params, result] = [readBody(request), answer.outcome === 'result' ? readBody(answer) : undefined];
    if (!params.ok || !result?.ok) return;
    always.load().then(
      (memory) => memory.keep(session, params.value, result.value),
      (error: unknown) => report(`the answer "always" cannot be kept: ${(error as Error).message}`),
    );
  };
}
