// What a dialect is: a pair of pure functions over a small state, and what must be known of agents that speak it.
import type { Message } from './message.ts';

/** What a dialect may want to know of the agent it is spoken with. */
export type About = {
  readonly agent: string;
  /** The dialect was named in the configuration, and not guessed. */
  readonly isNamed: boolean;
  readonly timeouts: { readonly initializeMs: number; readonly cancelMs: number; readonly quietMs: number; readonly stallMs: number };
  /** A name that no other session has. */
  readonly mint: () => string;
};

/** What becomes of a message, or of an event. */
export type Step<S> = {
  readonly state: S;
  /** In ACP, towards the editor. A message that is handed through as it came leaves as the bytes it came as. */
  readonly toClient?: readonly Message[];
  /** In the dialect, towards the agent. */
  readonly toAgent?: readonly Message[];
  /** Words for people. */
  readonly remarks?: readonly string[];
  /** Calls to be woken after so many milliseconds, by name; undefined takes one back. */
  readonly alarms?: Readonly<Record<string, number | undefined>>;
  /** The agent cannot be brought to end what it does. */
  readonly kill?: boolean;
};

export type DialectEvent =
  | { readonly kind: 'alarm'; readonly name: string }
  /** A line of the agent's that is no message. */
  | { readonly kind: 'noise'; readonly line: string }
  /** The agent says no more. */
  | { readonly kind: 'eof' }
  /** It reads no more. */
  | { readonly kind: 'deaf' }
  | { readonly kind: 'exit'; readonly code: number | null };

// biome-ignore lint/suspicious/noExplicitAny: each dialect has a state of its own, which only it looks into
export type Dialect<S = any> = {
  /** One process holds one session, or any number. */
  readonly isolation: 'shared' | 'session';
  /** MCP servers reach the agent with the params of a session. */
  readonly takesServers: boolean;
  /** Messages to the agent have no `jsonrpc` member. */
  readonly isBare?: boolean;
  /** Its own answer to initialize, which ACP would not give. */
  isItsAnswer?(answer: { readonly result?: unknown; readonly error?: unknown }): boolean;
  /** A method that agents of other tongues do not use before they have been asked anything. */
  isItsMethod?(method: string): boolean;
  begin(about: About): S;
  toAcp(state: S, message: Message): Step<S>;
  toAgent(state: S, message: Message): Step<S>;
  on?(state: S, event: DialectEvent): Step<S>;
};
