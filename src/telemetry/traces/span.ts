// A span, as far as OTLP needs it. Its attributes hold no texts of a conversation.
import type { TraceContext } from '../events.ts';

export type SpanKind = 'internal' | 'server' | 'client';
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export type Span = {
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly at: number }[];
  /** Spans of other traces. */
  readonly links: readonly TraceContext[];
  /** One word, if it failed. */
  readonly error: string | undefined;
};

/** A span that has not ended. */
export type OpenSpan = Omit<Span, 'endMs' | 'error' | 'attributes' | 'events'> & {
  attributes: Attributes;
  events: Span['events'];
};
