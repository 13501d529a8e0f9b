/** How much we hold for a peer before we stop: the longest frame, and what may wait for one that does not read. */
export type Limits = { readonly maxFrameBytes: number; readonly maxQueueBytes: number };
