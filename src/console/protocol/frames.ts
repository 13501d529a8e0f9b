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

/** A value that is not as the schema says. `isTolerated`: whoever reads it is to take it for one that is not there. */
export type SchemaProblem = { readonly at: string; readonly what: string; readonly isTolerated: boolean };
/** `name` is that of the schema; `why` says why there is none. */
export type SchemaCheck = {
  readonly name?: string | undefined;
  readonly why?: string | undefined;
  readonly problems: readonly SchemaProblem[];
};

/** What stands in the place of secrets; `kind` is empty where only the name of the field gave it away. */
export type Redaction = { readonly kind: string; readonly count: number; readonly at: readonly string[] };

export type FrameLatency = {
  /** From the request to its answer, on this leg. */
  readonly tookMs?: number | undefined;
  /** The other half of the two. */
  readonly half?: number | undefined;
  /** The same frame on the other leg, and how long it was here. */
  readonly passed?: { readonly n: number; readonly leg: string; readonly addedMs?: number | undefined } | undefined;
  /** From the request to its answer on that leg, and how much of the time was spent here. */
  readonly beyondMs?: number | undefined;
  readonly oursMs?: number | undefined;
};

export type FrameDetail = {
  /** Undefined when it is not in the ring any more. */
  readonly row?: FrameRow | undefined;
  /** Undefined when it is not kept. */
  readonly body?: string | undefined;
  readonly redactions: readonly Redaction[];
  readonly schema?: SchemaCheck | undefined;
  readonly latency: FrameLatency;
};

export type FrameActions = {
  /** The frame with that number, as long as it is kept. */
  frame: { params: { readonly n: number }; result: FrameDetail };
  /** Frames as lines of JSON, those after that number; `next` when there are more than go into one answer. */
  exportFrames: {
    params: { readonly filter: string; readonly after: number };
    result: { readonly text: string; readonly next?: number | undefined };
  };
};

export type FrameTopics = {
  /** `isFirst`: those before are not among them, and the page begins anew. */
  frames: {
    params: { readonly filter: string };
    news: { readonly rows: readonly FrameRow[]; readonly isFirst: boolean; readonly dropped: number };
  };
};
