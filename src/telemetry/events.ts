// What telemetry is told: one event for each thing that happens in a turn, none for single frames. The events hold no texts of a
// conversation. Metrics and spans are both made of them.

/** Milliseconds since 1970, with fractions; never jumps back. */
export type Timed = { readonly at: number };

/** The ids of a span elsewhere: `traceparent` and `tracestate` of W3C Trace Context. */
export type TraceContext = {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly state?: string;
  /** It is of another process, which may sample in another way. */
  readonly isRemote?: boolean;
};

export type Usage = Readonly<Partial<Record<'inputTokens' | 'outputTokens' | 'cachedReadTokens' | 'cachedWriteTokens', number>>>;

export type TelemetryEvent = Timed & {
  /** Of a client and its agents: two of them may have sessions with the same id. */ readonly connection: string;
} & EventOfConnection;

export type EventOfConnection =
  | {
      /** A request of a client. `id` distinguishes it from all others of this process. */
      readonly type: 'request';
      readonly id: string;
      readonly method: string;
      readonly sessionId: string | undefined;
      readonly agent: string | undefined;
      readonly parent: TraceContext | undefined;
    }
  | {
      readonly type: 'answer';
      readonly id: string;
      readonly method: string;
      readonly sessionId: string | undefined;
      readonly agent: string | undefined;
      /** The JSON-RPC code, if it is an error. */
      readonly error: number | undefined;
      /** The proxy's own word for it, if the error is the proxy's. */
      readonly reason: string | undefined;
      readonly stopReason: string | undefined;
      readonly usage: Usage | undefined;
      readonly tookMs: number;
    }
  /** The client is gone before the answer. */
  | { readonly type: 'abandoned'; readonly id: string; readonly method: string; readonly agent: string | undefined }
  /** What a session has cost since the last event of this type. */
  | { readonly type: 'cost'; readonly agent: string; readonly amount: number; readonly currency: string }
  /** The agent sends its first update after a prompt. */
  | { readonly type: 'first-update'; readonly id: string; readonly agent: string | undefined; readonly afterMs: number }
  /** A permission request is put to the client. */
  | {
      readonly type: 'permission';
      readonly id: string;
      readonly sessionId: string | undefined;
      readonly toolCallId: string | undefined;
    }
  | {
      readonly type: 'permission-end';
      readonly id: string;
      readonly agent: string | undefined;
      readonly outcome: PermissionOutcome;
      readonly waitedMs: number;
    }
  /** `session` is the session's id, or that of a delegation. */
  | {
      readonly type: 'tool-call';
      readonly session: string;
      readonly toolCallId: string;
      readonly kind: string | undefined;
      readonly status: string | undefined;
    }
  /** One agent gives another a turn. `session` is the one it works for. */
  | { readonly type: 'delegation'; readonly id: string; readonly session: string; readonly agent: string }
  | { readonly type: 'delegation-end'; readonly id: string; readonly agent: string; readonly stopReason: string | undefined }
  /** `start` distinguishes it from all other starts of this process. */
  | {
      readonly type: 'agent-start';
      readonly start: number;
      readonly agent: string;
      readonly transport: 'process' | 'remote';
    }
  /** Switchboard stopped it before it was ready. */
  | { readonly type: 'agent-stopped'; readonly start: number }
  /** The connection to a remote agent is open. */
  | { readonly type: 'agent-connected'; readonly start: number }
  | { readonly type: 'agent-ready'; readonly start: number; readonly agent: string; readonly tookMs: number }
  /** It could not start, or ended by itself. `start` is undefined if it had been ready. */
  | { readonly type: 'agent-failed'; readonly start: number | undefined; readonly agent: string; readonly reason: string }
  | {
      readonly type: 'decision';
      readonly session: string | undefined;
      readonly agent: string;
      readonly surface: string;
      readonly verdict: string;
      readonly outcome: string;
      readonly answeredBy: string;
      readonly count: number;
      readonly tookMs: number;
    }
  /** A call of a host tool, or of a tool of a configured MCP server. */
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly session: string | undefined;
      readonly agent: string | undefined;
      readonly server: string;
      readonly tool: string;
    }
  | {
      readonly type: 'tool-end';
      readonly id: string;
      readonly agent: string | undefined;
      readonly outcome: 'called' | 'denied' | 'failed';
    };

export type PermissionOutcome = 'allowed' | 'rejected' | 'cancelled' | 'error';

export type Emit = (event: TelemetryEvent) => void;
export type EmitOfConnection = (event: Timed & EventOfConnection) => void;
