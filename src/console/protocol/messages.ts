// Messages between the page and its server on their one socket. Each screen adds its actions and topics here.

import type { AgentActions, AgentTopics } from './agents.ts';
import type { ChartTopics } from './charts.ts';
import type { ChatActions } from './chat.ts';
import type { Advice, Conversation, Event } from './conversation.ts';
import type { FrameActions, FrameTopics } from './frames.ts';
import type { PolicyActions, PolicyTopics } from './policy.ts';
import type { QueueActions, QueueTopics } from './queue.ts';
import type { SessionActions } from './sessions.ts';
import type { SettingActions } from './settings.ts';
import type { ConsoleState, StateEvent } from './state.ts';
import type { WaitingChangeActions } from './waiting-changes.ts';

/** Actions a page can call: parameters and result. */
export type Actions = SessionActions &
  ChatActions &
  AgentActions &
  FrameActions &
  PolicyActions &
  SettingActions &
  WaitingChangeActions &
  QueueActions;
/** Topics a page can subscribe to: parameters, and the message sent on each change. */
export type Topics = AgentTopics & FrameTopics & ChartTopics & PolicyTopics & QueueTopics;

export type Delta = { readonly seq: number; readonly sessionId?: string; readonly event: Event | StateEvent };

/** A page's first message: its key, and the state it already has. */
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
