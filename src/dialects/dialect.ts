// A dialect: two pure functions over a small state, and the traits of agents that speak it.
import type { Message } from './message.ts';

/** What a dialect may know about its agent. */
export type About = {
  readonly agent: string;
  /** The configuration names the dialect; it was not detected. */
  readonly isNamed: boolean;
  /** The longest line that the agent reads. */
  readonly maxLineBytes: number;
  readonly timeouts: { readonly initializeMs: number; readonly cancelMs: number; readonly quietMs: number; readonly stallMs: number };
  /** Returns an unused session id. */
  readonly mint: () => string;
};

/** The result of a message or an event. */
export type Step<S> = {
  readonly state: S;
  /** ACP messages to the client. A message that is forwarded as is keeps its original bytes. */
  readonly toClient?: readonly Message[];
  /** Messages in the dialect, to the agent. */
  readonly toAgent?: readonly Message[];
  /** Warnings for the log and stderr. */
  readonly remarks?: readonly string[];
  /** Details for the log at level debug. */
  readonly details?: readonly string[];
  /** Timers by name, in milliseconds; undefined cancels one. */
  readonly alarms?: Readonly<Record<string, number | undefined>>;
  /** The agent cannot be stopped in any other way. */
  readonly kill?: boolean;
};

export type DialectEvent =
  | { readonly kind: 'alarm'; readonly name: string }
  /** A line from the agent that is not a message. */
  | { readonly kind: 'noise'; readonly line: string }
  /** The agent closed its output. */
  | { readonly kind: 'eof' }
  /** The agent closed its input. */
  | { readonly kind: 'unwritable' }
  | { readonly kind: 'exit'; readonly code: number | null };

// biome-ignore lint/suspicious/noExplicitAny: each dialect has a state type of its own, which nobody else reads
export type Dialect<S = any> = {
  /** Whether one process holds one session or any number. */
  readonly isolation: 'shared' | 'session';
  /** The agent accepts MCP servers in the params of a session. */
  readonly takesServers: boolean;
  /** Messages to the agent have no `jsonrpc` member. */
  readonly isBare?: boolean;
  /** An answer to initialize that identifies this dialect. */
  isTypicalAnswer?(answer: { readonly result?: unknown; readonly error?: unknown }): boolean;
  /** A method that identifies this dialect when the agent uses it before its first request. */
  isTypicalMethod?(method: string): boolean;
  begin(about: About): S;
  toAcp(state: S, message: Message): Step<S>;
  toAgent(state: S, message: Message): Step<S>;
  on?(state: S, event: DialectEvent): Step<S>;
};
