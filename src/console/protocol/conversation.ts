// The conversation of one session as the console shows it, and its events. Server and page apply the same events in the same order: the
// server keeps a conversation so that a page can join at any time.
import type { LoginMethod } from './chat.ts';

/** What the agent says about a block: for whom it is, how important (0 to 1), and how old. */
export type About = {
  readonly audience?: readonly string[] | undefined;
  readonly priority?: number | undefined;
  readonly lastModified?: string | undefined;
};

export type Block = { readonly about?: About | undefined } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
    }
  | { readonly type: 'resource'; readonly uri: string; readonly text?: string | undefined; readonly mimeType?: string | undefined }
  | { readonly type: 'other'; readonly text: string }
);

export type ToolContent =
  | { readonly type: 'content'; readonly content: Block }
  | {
      readonly type: 'diff';
      readonly path: string;
      readonly oldText: string | undefined;
      readonly newText: string;
      /** Present when the change is shown exactly as the agent sent it. Unique per change, whatever an agent tries. */
      readonly print?: string | undefined;
    }
  | { readonly type: 'terminal'; readonly terminalId: string };

export type Role = 'user' | 'agent' | 'thought';
export type PlanEntry = { readonly content: string; readonly status: string; readonly priority?: string | undefined };
/** A turn has one plan, or several with ids. A plan may be text or a file. */
export type Plan = {
  readonly planId?: string | undefined;
  readonly entries: readonly PlanEntry[];
  readonly text?: string | undefined;
  readonly uri?: string | undefined;
};
/** The agent compacts the conversation. `null` clears an earlier value. */
export type Compaction = {
  readonly compactionId: string;
  readonly status?: string | undefined;
  readonly summary?: string | null | undefined;
  readonly error?: string | null | undefined;
};
/** A session the agent started for a part of its work. */
export type Subagent = {
  readonly childId: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly state?: string | null | undefined;
};
/** Advice for a failure, with login methods where a login helps. */
export type Advice = { readonly hint?: string | undefined; readonly logins?: readonly LoginMethod[] | undefined };
export type Command = { readonly name: string; readonly description: string; readonly hint?: string | undefined };
export type Choice = { readonly value: string; readonly name: string; readonly description?: string | undefined };
export type Option =
  | {
      readonly type: 'select';
      readonly id: string;
      readonly name: string;
      readonly category?: string | undefined;
      readonly value: string;
      readonly choices: readonly Choice[];
    }
  | {
      readonly type: 'boolean';
      readonly id: string;
      readonly name: string;
      readonly category?: string | undefined;
      readonly value: boolean;
    };
export type Usage = { readonly used: number; readonly size: number; readonly cost?: string | undefined };
export type Accepts = { readonly image: boolean; readonly audio: boolean; readonly embeddedContext: boolean };
export type Output = { readonly text: string; readonly isTruncated: boolean; readonly exit?: string | undefined };

/** An update of a tool call. Missing fields keep their value. */
export type ToolNews = {
  readonly toolCallId: string;
  readonly title?: string | undefined;
  readonly toolKind?: string | undefined;
  readonly status?: string | undefined;
  readonly content?: readonly ToolContent[] | undefined;
  readonly locations?: readonly string[] | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
};

export type Item = { readonly id: number; size: number } & (
  | {
      readonly kind: 'message';
      readonly role: Role;
      readonly messageId: string | undefined;
      text: string;
      blocks: Block[];
      about?: About | undefined;
      readonly at?: number | undefined;
    }
  | ({ readonly kind: 'tool' } & { -readonly [K in keyof ToolNews]: ToolNews[K] })
  | ({ readonly kind: 'plan' } & { -readonly [K in keyof Plan]: Plan[K] })
  | ({ readonly kind: 'compaction' } & { -readonly [K in keyof Compaction]: Compaction[K] })
  | ({ readonly kind: 'subagent' } & { -readonly [K in keyof Subagent]: Subagent[K] })
  /** Consecutive updates of an unknown kind: their number, and the last one. */
  | { readonly kind: 'unknown'; readonly name: string; count: number; text: string }
  | {
      readonly kind: 'decision';
      readonly title: string;
      readonly outcome: string;
      readonly by: string;
      readonly isAccepted: boolean | undefined;
    }
  | { readonly kind: 'note'; readonly text: string; readonly severity?: string | undefined }
  | ({
      readonly kind: 'end';
      readonly stopReason: string | undefined;
      readonly error: string | undefined;
      /** The error's data, as text. */
      readonly data?: string | undefined;
      readonly at?: number | undefined;
    } & Advice)
);

export type Conversation = {
  readonly sessionId: string;
  items: Item[];
  /** Number of earlier items that were dropped. */
  dropped: number;
  nextId: number;
  size: number;
  isRunning: boolean;
  commands: readonly Command[];
  options: readonly Option[];
  usage: Usage | undefined;
  accepts: Accepts;
  outputs: Record<string, Output>;
};

/** When it happened, in milliseconds since 1970; absent where nobody knows. */
type Timed = { readonly at?: number | undefined };

export type Event =
  /** `drop`: first remove this many characters from the end of the message. */
  | ({
      readonly e: 'text';
      readonly role: Role;
      readonly messageId?: string | undefined;
      readonly text: string;
      readonly drop?: number;
      readonly about?: About | undefined;
    } & Timed)
  | ({ readonly e: 'block'; readonly role: Role; readonly block: Block } & Timed)
  | ({ readonly e: 'prompt'; readonly text: string; readonly blocks: readonly Block[] } & Timed)
  | ({ readonly e: 'tool' } & ToolNews)
  | ({ readonly e: 'plan' } & Plan)
  | { readonly e: 'unplan'; readonly planId: string }
  /** `isMore`: append to the summary after removing `drop` characters. */
  | ({ readonly e: 'compaction'; readonly isMore?: boolean; readonly drop?: number } & Compaction)
  | ({ readonly e: 'subagent' } & Subagent)
  | { readonly e: 'unknown'; readonly name: string; readonly text: string }
  /** `isAccepted` follows from the option's kind, not its name; undefined when it is unknown. */
  | {
      readonly e: 'decision';
      readonly title: string;
      readonly outcome: string;
      readonly by: string;
      readonly isAccepted?: boolean | undefined;
    }
  | { readonly e: 'note'; readonly text: string; readonly severity?: string | undefined }
  | ({
      readonly e: 'end';
      readonly stopReason?: string | undefined;
      readonly error?: string | undefined;
      readonly data?: string | undefined;
    } & Advice &
      Timed)
  | { readonly e: 'commands'; readonly commands: readonly Command[] }
  | { readonly e: 'options'; readonly options: readonly Option[] }
  /** An option that the agent changed itself: the one with this id, or else those of the category. */
  | { readonly e: 'option'; readonly id: string; readonly category?: string | undefined; readonly value: string | boolean }
  | { readonly e: 'usage'; readonly usage: Usage }
  | { readonly e: 'accepts'; readonly accepts: Accepts }
  | { readonly e: 'output'; readonly terminalId: string; readonly output: Output }
  | { readonly e: 'running'; readonly isRunning: boolean }
  /** Clears the conversation; its events follow again. */
  | { readonly e: 'reset' };

export function createConversation(sessionId: string): Conversation {
  return {
    sessionId,
    items: [],
    dropped: 0,
    nextId: 0,
    size: 0,
    isRunning: false,
    commands: [],
    options: [],
    usage: undefined,
    accepts: { image: false, audio: false, embeddedContext: false },
    outputs: {},
  };
}
