// What a page may do with sessions and agents.
import type { SessionRow } from './state.ts';

/** Some acts and topics need nothing to be given. */
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

/** One that is reached by its address. Programs are none of a page's business: those stand in the configuration. */
export type McpServer = {
  readonly type: 'http' | 'sse';
  readonly name: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
};

export type SessionActions = {
  /** Its conversation, and from then on what happens in it. */
  watch: { params: InSession; result: unknown };
  unwatch: { params: InSession; result: unknown };
  new: {
    params: {
      readonly agent?: string | undefined;
      readonly cwd?: string | undefined;
      /** Of agents that take them. */
      readonly additionalDirectories?: readonly string[] | undefined;
      readonly mcpServers?: readonly McpServer[] | undefined;
    };
    result: InSession;
  };
  prompt: { params: InSession & { readonly blocks: readonly PromptBlock[] }; result: unknown };
  cancel: { params: InSession; result: unknown };
  close: { params: InSession; result: unknown };
  option: { params: InSession & { readonly option: string; readonly value: string | boolean }; result: unknown };
  /** Options go by their place; null for none of them. */
  answer: { params: { readonly requestId: string; readonly option: number | null }; result: { readonly isFirst: boolean } };
  authenticate: { params: { readonly methodId: string }; result: unknown };
  restart: { params: { readonly agent: string }; result: unknown };
  /** Looks for words in what was said, in all sessions or in those of one agent; without words, the newest. */
  search: {
    params: { readonly query: string; readonly agent?: string | undefined };
    result: { readonly found: readonly Hit[]; readonly isAll: boolean };
  };
  export: { params: InSession & { readonly format: 'md' | 'json' }; result: { readonly text: string } };
  /** Our records of a session that is not open go. */
  forget: { params: InSession; result: unknown };
  /** Another way in, for another browser. */
  link: { params: Nothing; result: { readonly link: string } };
};

/** A session, and lines of it that have one of the words. */
export type Hit = { readonly row: SessionRow; readonly lines: readonly string[] };
