// What the page and its server say to each other on the one socket. A screen adds its own acts and topics to these two lists.

import type { AgentActs, AgentTopics } from './agents.ts';
import type { ChartTopics } from './charts.ts';
import type { ChatActs } from './chat.ts';
import type { Advice, Conversation, Event } from './conversation.ts';
import type { FrameActs, FrameTopics } from './frames.ts';
import type { PolicyActs, PolicyTopics } from './policy.ts';
import type { SessionActs } from './sessions.ts';
import type { SettingActs } from './settings.ts';
import type { Board, BoardEvent } from './state.ts';

/** What a page can ask for: what it gives, and what it gets. */
export type Acts = SessionActs & ChatActs & AgentActs & FrameActs & PolicyActs & SettingActs;
/** What a page can follow: what it gives, and what it then hears whenever there is news. */
export type Topics = AgentTopics & FrameTopics & ChartTopics & PolicyTopics;

export type Delta = { readonly seq: number; readonly sessionId?: string; readonly event: Event | BoardEvent };

/** The first word of a page: who it is, and what it has already. */
export type Hello = {
  readonly hello: string;
  readonly epoch?: string | undefined;
  readonly since?: number | undefined;
  readonly sessions?: readonly string[] | undefined;
};

export type FromPage = {
  readonly id: number;
  readonly act: keyof Acts | 'follow' | 'unfollow';
  readonly topic?: keyof Topics | undefined;
  readonly give?: unknown;
};

export type FromServer =
  | { readonly t: 'welcome'; readonly page: string; readonly epoch: string; readonly isResumed: boolean }
  | { readonly t: 'board'; readonly seq: number; readonly board: Board }
  | { readonly t: 'conversation'; readonly seq: number; readonly conversation: Conversation }
  | { readonly t: 'deltas'; readonly deltas: readonly Delta[] }
  | { readonly t: 'answer'; readonly re: number; readonly result?: unknown; readonly error?: Failure }
  | { readonly t: 'news'; readonly topic: string; readonly news: unknown };

export type Failure = { readonly message: string; readonly code?: number | undefined } & Advice;
