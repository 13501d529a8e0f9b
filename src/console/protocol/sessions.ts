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
  watch: { give: InSession; get: unknown };
  unwatch: { give: InSession; get: unknown };
  new: {
    give: {
      readonly agent?: string | undefined;
      readonly cwd?: string | undefined;
      /** Of agents that take them. */
      readonly additionalDirectories?: readonly string[] | undefined;
      readonly mcpServers?: readonly McpServer[] | undefined;
    };
    get: InSession;
  };
  prompt: { give: InSession & { readonly blocks: readonly PromptBlock[] }; get: unknown };
  cancel: { give: InSession; get: unknown };
  close: { give: InSession; get: unknown };
  option: { give: InSession & { readonly option: string; readonly value: string | boolean }; get: unknown };
  /** Options go by their place; null for none of them. */
  answer: { give: { readonly questionId: string; readonly option: number | null }; get: { readonly isFirst: boolean } };
  authenticate: { give: { readonly methodId: string }; get: unknown };
  restart: { give: { readonly agent: string }; get: unknown };
  /** Looks for words in what was said, in all sessions or in those of one agent; without words, the newest. */
  search: {
    give: { readonly words: string; readonly agent?: string | undefined };
    get: { readonly found: readonly Hit[]; readonly isAll: boolean };
  };
  export: { give: InSession & { readonly format: 'md' | 'json' }; get: { readonly text: string } };
  /** Our records of a session that is not open go. */
  forget: { give: InSession; get: unknown };
  /** Another way in, for another browser. */
  link: { give: Nothing; get: { readonly link: string } };
};

/** A session, and lines of it that have one of the words. */
export type Hit = { readonly row: SessionRow; readonly lines: readonly string[] };
