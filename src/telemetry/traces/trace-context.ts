// W3C Trace Context: reading and writing `traceparent`.
import type { TraceContext } from '../events.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
/** A list of `key=value`. Anything else may be a text. */
const STATE = /^[a-z0-9][\w\-*/@]*=[!-+\--<>-~]{1,256}(?:,[a-z0-9][\w\-*/@]*=[!-+\--<>-~]{1,256})*$/;

/** Undefined if it is not valid: the caller then begins a trace of its own. */
export function readTraceparent(text: string | undefined, state?: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, ...(state !== undefined && state.length <= MAX_STATE && STATE.test(state) && { state }) };
}

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
