// The state every page shows: sessions, pending requests, agents.

import type { LoginMethod } from './chat.ts';
import type { ToolContent } from './conversation.ts';
import type { Field } from './form.ts';

export type SessionState = 'idle' | 'running' | 'asking' | 'stored';

export type SessionRow = {
  readonly sessionId: string;
  readonly agent: string;
  readonly title: string;
  readonly cwd: string;
  /** `stored`: from an earlier or another process; a prompt reopens it. */
  readonly state: SessionState;
  readonly turns: number;
  /** The attached editor owns the session: prompt it there. */
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
  /** The agent did not ask; the policy did. */
  readonly isFromPolicy: boolean;
  readonly verdict: string;
  readonly why: string;
  readonly rule?: { readonly id: string; readonly file: string; readonly line: number; readonly layer: string } | undefined;
};

/** A form, a URL to visit, or `other`: a request that cannot be shown here and can only be declined. */
export type Elicitation =
  | { readonly mode: 'form'; readonly fields: readonly Field[] }
  | { readonly mode: 'url'; readonly url: string; readonly host: string }
  | { readonly mode: 'other'; readonly text: string };

/** A permission request or an elicitation. Options go by index. */
export type PendingRequest = {
  readonly requestId: string;
  readonly sessionId: string;
  /** The tool call it is about. */
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
  /** The policy's decision, if there is a policy. */
  readonly policy?: RequestPolicy | undefined;
  readonly options: readonly AnswerOption[];
  /** Set for an elicitation, which has no options. */
  readonly elicitation?: Elicitation | undefined;
  readonly at: number;
};

/** An agent on another machine. */
export type RemoteRow = {
  readonly transport: 'ws' | 'http' | 'ssh' | 'bus';
  /** Without credentials. */
  readonly address: string;
  /** The command that starts it there; undefined where a URL is all there is. */
  readonly command?: string | undefined;
  /** Whose files it works on. */
  readonly files: 'none' | 'same' | 'map';
};

export type AgentRow = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly isDefault: boolean;
  /** The level that its next process gets, and the network: `workspace, listed`. */
  readonly sandbox?: string | undefined;
  /** Where it runs, if not on this machine. */
  readonly remote?: RemoteRow | undefined;
  readonly state: string;
  readonly pid?: number | undefined;
  readonly since?: number | undefined;
  readonly restarts: number;
  readonly sessions: number;
  readonly inFlight: number;
  readonly version?: string | undefined;
  readonly lastError?: string | undefined;
  readonly stderr: readonly string[];
  /** Its capabilities as paths: `promptCapabilities.image`. */
  readonly capabilities: readonly string[];
  readonly authMethods: readonly LoginMethod[];
  /** What happens to a prompt during a turn. */
  readonly whileRunning: 'pass' | 'queue' | 'steer' | 'refuse';
  /** Whether a prompt can join the running turn. */
  readonly canSteer: boolean;
};

export type ConsoleState = {
  readonly version: string;
  readonly cwd: string;
  /** Names of the configured MCP servers, whose tools every agent gets. */
  readonly servers: readonly string[];
  readonly agents: readonly AgentRow[];
  readonly sessions: readonly SessionRow[];
  readonly requests: readonly PendingRequest[];
};

export type StateEvent =
  | { readonly b: 'session'; readonly row: SessionRow }
  | { readonly b: 'deleted'; readonly sessionId: string }
  | { readonly b: 'request'; readonly request: PendingRequest }
  /** `by`: the id of the page that answered (from `welcome`), or `client`; undefined when nobody did. */
  | { readonly b: 'settled'; readonly requestId: string; readonly outcome: string; readonly by?: string | undefined }
  | { readonly b: 'agents'; readonly agents: readonly AgentRow[] };
