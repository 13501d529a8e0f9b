// What the page and its server say to each other on the one socket. A screen adds its own acts and topics to these two lists.

import type { AgentActions, AgentTopics } from './agents.ts';
import type { ChartTopics } from './charts.ts';
import type { ChatActions } from './chat.ts';
import type { Advice, Conversation, Event } from './conversation.ts';
import type { FrameActions, FrameTopics } from './frames.ts';
import type { PolicyActions, PolicyTopics } from './policy.ts';
import type { SessionActions } from './sessions.ts';
import type { SettingActions } from './settings.ts';
import type { ConsoleState, StateEvent } from './state.ts';

/** What a page can ask for: what it gives, and what it gets. */
export type Actions = SessionActions & ChatActions & AgentActions & FrameActions & PolicyActions & SettingActions;
/** What a page can follow: what it gives, and what it then hears whenever there is news. */
export type Topics = AgentTopics & FrameTopics & ChartTopics & PolicyTopics;

export type Delta = { readonly seq: number; readonly sessionId?: string; readonly event: Event | StateEvent };

/** The first word of a page: who it is, and what it has already. */
export type Hello = {
  readonly hello: string;
  readonly epoch?: string | undefined;
  readonly since?: number | undefined;
  readonly sessions?: readonly string[] | undefined;
};

export type FromPage = {
  readonly id: number;
  readonly action: keyof Actions | 'subscribe' | 'unsubscribe';
  readonly topic?: keyof Topics | undefined;
  readonly params?: unknown;
};

export type FromServer =
  | { readonly t: 'welcome'; readonly page: string; readonly epoch: string; readonly isResumed: boolean }
  | { readonly t: 'state'; readonly seq: number; readonly state: ConsoleState }
  | { readonly t: 'conversation'; readonly seq: number; readonly conversation: Conversation }
  | { readonly t: 'deltas'; readonly deltas: readonly Delta[] }
  | { readonly t: 'answer'; readonly re: number; readonly result?: unknown; readonly error?: Failure }
  | { readonly t: 'news'; readonly topic: string; readonly news: unknown };

export type Failure = { readonly message: string; readonly code?: number | undefined } & Advice;
