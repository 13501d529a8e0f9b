// Actions on sessions and agents.
import type { SessionRow } from './state.ts';

/** For actions and topics without parameters. */
export type Nothing = Readonly<Record<string, never>>;
export type InSession = { readonly sessionId: string };

export type PromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }
  | {
      readonly type: 'resource';
      readonly resource:
        | { readonly uri: string; readonly mimeType?: string | undefined; readonly text: string }
        | { readonly uri: string; readonly mimeType?: string | undefined; readonly blob: string };
    };

/** A server reached by URL. A page cannot name programs: those belong in the configuration. */
export type McpServer = {
  readonly type: 'http' | 'sse';
  readonly name: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
};

export type SessionActions = {
  /** Sends the conversation, then its events. */
  watch: { params: InSession; result: unknown };
  unwatch: { params: InSession; result: unknown };
  new: {
    params: {
      readonly agent?: string | undefined;
      readonly cwd?: string | undefined;
      /** If the agent supports it. */
      readonly additionalDirectories?: readonly string[] | undefined;
      readonly mcpServers?: readonly McpServer[] | undefined;
    };
    result: InSession;
  };
  /** `whileRunning`: during a turn, wait for its end or join it; by default as configured. */
  prompt: {
    params: InSession & { readonly blocks: readonly PromptBlock[]; readonly whileRunning?: 'queue' | 'steer' | undefined };
    result: unknown;
  };
  cancel: { params: InSession; result: unknown };
  close: { params: InSession; result: unknown };
  option: { params: InSession & { readonly option: string; readonly value: string | boolean }; result: unknown };
  /** Options go by index; null for none. */
  answer: { params: { readonly requestId: string; readonly option: number | null }; result: { readonly isFirst: boolean } };
  authenticate: { params: { readonly methodId: string }; result: unknown };
  restart: { params: { readonly agent: string }; result: unknown };
  /** Searches all sessions, or those of one agent; without a query, the newest. */
  search: {
    params: { readonly query: string; readonly agent?: string | undefined };
    result: { readonly found: readonly Hit[]; readonly isAll: boolean };
  };
  export: { params: InSession & { readonly format: 'md' | 'json' }; result: { readonly text: string } };
  /** Deletes our records of a session that is not open. */
  forget: { params: InSession; result: unknown };
  /** A new link for another browser. */
  link: { params: Nothing; result: { readonly link: string } };
};

/** A session, and its lines that match. */
export type Hit = { readonly row: SessionRow; readonly lines: readonly string[] };
