// Prompts that wait for the end of a turn.
import type { InSession } from './sessions.ts';

export type QueuedPrompt = {
  readonly id: string;
  readonly text: string;
  /** False: the page does not have the text as it is, so it must not edit it. */
  readonly isWhole: boolean;
};

export type QueueActions = {
  /** Replaces the text of a waiting prompt; null removes the prompt. */
  changeQueued: { params: InSession & { readonly id: string; readonly text: string | null }; result: unknown };
};

export type QueueTopics = {
  queued: { params: InSession; news: { readonly prompts: readonly QueuedPrompt[] } };
};
