// What every page shows, whichever screen it is on: sessions, questions that are open, agents.

import type { LoginMethod } from './chat.ts';
import type { ToolContent } from './conversation.ts';
import type { Field } from './form.ts';

export type SessionState = 'idle' | 'running' | 'asking' | 'stored';

export type SessionRow = {
  readonly sessionId: string;
  readonly agent: string;
  readonly title: string;
  readonly cwd: string;
  /** `stored`: of before, or of another process; it is taken up again when it is prompted. */
  readonly state: SessionState;
  readonly turns: number;
  /** The editor beside which the console runs has it: it is prompted there. */
  readonly isFromClient?: boolean | undefined;
  readonly used?: number | undefined;
  readonly size?: number | undefined;
  readonly cost?: string | undefined;
  readonly stopReason?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type AnswerOption = { readonly name: string; readonly kind: string };

export type RequestPolicy = {
  /** The agent did not ask; the policy wants it asked. */
  readonly isOurs: boolean;
  readonly verdict: string;
  readonly why: string;
  readonly rule?: { readonly id: string; readonly file: string; readonly line: number; readonly layer: string } | undefined;
};

/** What an agent wants to know, or where it wants a person to go. `other` asks for what cannot be shown here, and can only be declined. */
export type Elicitation =
  | { readonly mode: 'form'; readonly fields: readonly Field[] }
  | { readonly mode: 'url'; readonly url: string; readonly host: string }
  | { readonly mode: 'other'; readonly text: string };

/** A permission question, or an elicitation. Options go by their place in the list. */
export type PendingRequest = {
  readonly requestId: string;
  readonly sessionId: string;
  /** Of the tool call that is asked about. */
  readonly toolCallId: string;
  readonly agent: string;
  readonly sessionTitle: string;
  readonly cwd: string;
  readonly title: string;
  readonly toolKind: string;
  readonly command?: string | undefined;
  readonly content: readonly ToolContent[];
  readonly locations: readonly string[];
  readonly input?: string | undefined;
  /** What the policy says of it, where there is one. */
  readonly policy?: RequestPolicy | undefined;
  readonly options: readonly AnswerOption[];
  /** No permission is asked for: there are no options then. */
  readonly elicitation?: Elicitation | undefined;
  readonly at: number;
};

export type AgentRow = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly isDefault: boolean;
  readonly state: string;
  readonly pid?: number | undefined;
  readonly since?: number | undefined;
  readonly restarts: number;
  readonly sessions: number;
  readonly inFlight: number;
  readonly version?: string | undefined;
  readonly lastError?: string | undefined;
  readonly stderr: readonly string[];
  /** Capabilities it has, as paths: `promptCapabilities.image`. */
  readonly capabilities: readonly string[];
  readonly authMethods: readonly LoginMethod[];
};

export type ConsoleState = {
  readonly version: string;
  readonly cwd: string;
  /** The MCP servers of the configuration: every agent gets their tools. */
  readonly servers: readonly string[];
  readonly agents: readonly AgentRow[];
  readonly sessions: readonly SessionRow[];
  readonly requests: readonly PendingRequest[];
};

export type StateEvent =
  | { readonly b: 'session'; readonly row: SessionRow }
  /** It was deleted. */
  | { readonly b: 'deleted'; readonly sessionId: string }
  | { readonly b: 'request'; readonly request: PendingRequest }
  /** `by`: the page that answered, as it was told in `welcome`, or `editor`; undefined when nobody did. */
  | { readonly b: 'settled'; readonly requestId: string; readonly outcome: string; readonly by?: string | undefined }
  | { readonly b: 'agents'; readonly agents: readonly AgentRow[] };
