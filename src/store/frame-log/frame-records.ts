// What one line of the frame log stands for.
import type { FrameRecord } from './frame-filter.ts';

/** Notifications that came together are one line, with a list of their sizes, and one of their sessions if those differ. */
export type FrameLine = Omit<FrameRecord, 'bytes' | 'session'> & {
  readonly bytes?: number | readonly number[];
  readonly session?: string | readonly string[];
};

export function recordsOf(line: FrameLine): FrameRecord[] {
  const { bytes, session } = line;
  if (!Array.isArray(bytes)) return [line as FrameRecord];
  return bytes.map((size, k) => ({
    ...line,
    ...(session !== undefined && { session: Array.isArray(session) ? session[k] : session }),
    bytes: size,
  }));
}
