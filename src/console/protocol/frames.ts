// Messages between the Frames screen and its server.
/** A line of the frame log, with a number to fetch its body by. */
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
  /** What it is about, in a few words. */
  readonly what?: string | undefined;
  /** The same for a request or response on both connections. */
  readonly pair?: number | undefined;
  /** From the frame log of another process. */
  readonly isOther?: boolean | undefined;
};

/** A response goes the way back. */
const BACK: Readonly<Record<string, string>> = {
  fromEditor: 'toEditor',
  toEditor: 'fromEditor',
  fromAgent: 'toAgent',
  toAgent: 'fromAgent',
};

type Half = { readonly leg?: unknown; readonly dir?: string | undefined; readonly kind?: string | undefined; readonly id?: unknown };

/** The same for a request and its response, on one connection. */
export const exchangeKey = ({ leg, dir = '', kind, id }: Half): string => `${kind === 'request' ? BACK[dir] : dir} ${id} ${leg}`;

/** A value that violates the schema. `isTolerated`: readers must treat it as absent. */
export type SchemaProblem = { readonly at: string; readonly what: string; readonly isTolerated: boolean };
/** `name` is the schema's; `why` says why there is none. */
export type SchemaCheck = {
  readonly name?: string | undefined;
  readonly why?: string | undefined;
  readonly problems: readonly SchemaProblem[];
};

/** A placeholder for a secret. `kind` is empty when only the field's name revealed it. */
export type Redaction = { readonly kind: string; readonly count: number; readonly at: readonly string[] };

export type FrameLatency = {
  /** From the request to its response, on this connection. */
  readonly tookMs?: number | undefined;
  /** The matching request or response. */
  readonly half?: number | undefined;
  /** The same frame on the other connection, and how long it stayed here. */
  readonly passed?: { readonly n: number; readonly leg: string; readonly addedMs?: number | undefined } | undefined;
  /** From request to response on the other connection, and the time spent here. */
  readonly beyondMs?: number | undefined;
  readonly oursMs?: number | undefined;
};

export type FrameDetail = {
  /** Undefined when it left the ring. */
  readonly row?: FrameRow | undefined;
  /** Undefined when the body is not kept. */
  readonly body?: string | undefined;
  readonly redactions: readonly Redaction[];
  readonly schema?: SchemaCheck | undefined;
  readonly latency: FrameLatency;
};

export type FrameActions = {
  /** The frame with this number, while it is kept. */
  frame: { params: { readonly n: number }; result: FrameDetail };
  /** Frames after this number as JSON Lines; `next` when there are more than fit into one response. */
  exportFrames: {
    params: { readonly filter: string; readonly after: number; readonly hasOthers?: boolean | undefined };
    result: { readonly text: string; readonly next?: number | undefined };
  };
  /** The kept frames of one connection, as a recording. */
  exportRecording: {
    params: { readonly leg: string; readonly after: number };
    result: { readonly text: string; readonly next?: number | undefined };
  };
  /** Sends a client's request to its agent once more, and returns the answer as text. */
  resendFrame: { params: { readonly n: number }; result: { readonly answer: string } };
};

export type FrameTopics = {
  /** `isFirst`: the page starts over with these rows. */
  frames: {
    /**
     * `hasOthers`: with frames of other processes, from the frame log. `hasAnswers`: a request that passes the filter has its response with
     * it.
     */
    params: { readonly filter: string; readonly hasOthers?: boolean | undefined; readonly hasAnswers?: boolean | undefined };
    news: { readonly rows: readonly FrameRow[]; readonly isFirst: boolean; readonly dropped: number };
  };
};
