// One entry of a transcript: a message or an action of a session in its final state.

export type ToolRecord = {
  readonly toolCallId: string;
  readonly title?: unknown;
  readonly toolKind?: unknown;
  readonly status?: unknown;
  readonly content?: unknown;
  readonly locations?: unknown;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
};

export type Entry =
  | { readonly kind: 'opened'; readonly sessionId: string; readonly method: string; readonly cwd?: string | undefined }
  | { readonly kind: 'prompt'; readonly text: string; readonly own?: string; readonly other?: readonly unknown[] }
  /** `more`: the message continues in the next entry of its role. */
  | { readonly kind: 'message'; readonly role: 'agent' | 'thought' | 'user'; readonly text: string; readonly more?: true }
  | { readonly kind: 'block'; readonly role: 'agent' | 'thought' | 'user'; readonly content: unknown }
  | ({ readonly kind: 'tool' } & ToolRecord)
  | { readonly kind: 'plan'; readonly entries: unknown }
  | {
      readonly kind: 'permission';
      readonly toolCallId?: unknown;
      readonly title?: unknown;
      readonly outcome: string;
      readonly option?: unknown;
    }
  | { readonly kind: 'mode'; readonly modeId: unknown }
  | { readonly kind: 'title'; readonly title: unknown }
  | { readonly kind: 'usage'; readonly usage: unknown }
  | { readonly kind: 'turn'; readonly stopReason?: unknown; readonly error?: string | undefined; readonly usage?: unknown }
  | { readonly kind: 'omitted'; readonly bytes: number };

export type TranscriptRecord = Entry & { readonly t: number };
