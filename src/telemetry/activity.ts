// What a proxy reports besides its frames. It is absent while telemetry is off, and no report is made for single frames of a message.
import type { Frame } from '../wire/frame.ts';
import type { Patch } from '../wire/writer.ts';

export type CalledTool = {
  /** The session's id, or that of a delegation. */
  readonly sessionId: string;
  readonly agent: string;
  readonly server: string;
  readonly tool: string;
};

/** A call of a host tool, or of a tool of a configured MCP server. */
export type ReportedCall = {
  /** For the MCP server, if servers get the trace context. */
  readonly traceparent: string | undefined;
  end(outcome: 'called' | 'denied' | 'failed'): void;
};

export type Activity = {
  /** An agent has answered initialize. `process` distinguishes the processes of one agent. */
  agentReady(process: string): void;
  /** An update about a tool call. `session` is the session's id, or that of a delegation. */
  toolCall(session: string, frame: Frame): void;
  /** An update that may say what the session has cost so far. Outside of turns it may tell of earlier processes. */
  usage(session: string, agent: string, frame: Frame, isInTurn: boolean): void;
  toolCalled(called: CalledTool): ReportedCall;
  /** One agent gives another a turn. Call the result with its stop reason, or with undefined if it failed. */
  delegated(session: string, id: string, agent: string): (stopReason: string | undefined) => void;
  /** Puts the trace context of a client's request into the frame for the agent, if agents get it. */
  patches(frame: Frame, requestId: string): readonly Patch[];
  /** The same for the prompt of a delegation. */
  traceparent(delegation: string): string | undefined;
};
