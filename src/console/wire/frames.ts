// The Frames screen and its server.
/** A line of the frame log, with a number to ask for its body by. */
export type FrameRow = {
  readonly n: number;
  readonly t: number;
  readonly leg?: string | undefined;
  readonly dir?: string | undefined;
  readonly kind?: string | undefined;
  readonly method?: string | undefined;
  readonly id?: string | undefined;
  readonly session?: string | undefined;
  readonly bytes?: number | undefined;
  readonly ms?: number | undefined;
  readonly error?: number | undefined;
  readonly chunks?: number | undefined;
  readonly event?: string | undefined;
  readonly reason?: string | undefined;
  readonly ours?: boolean | undefined;
};

export type FrameActs = {
  /** The content of the frame with that number, as long as it is kept. */
  frame: { give: { readonly n: number }; get: { readonly body: string | undefined } };
};

export type FrameTopics = {
  /** `isFirst`: those before are not among them, and the page begins anew. */
  frames: {
    give: { readonly filter: string };
    news: { readonly rows: readonly FrameRow[]; readonly isFirst: boolean; readonly dropped: number };
  };
};
