// What the clients of a live session have seen, for the next one that attaches: the lines as they were sent. Only in memory, because nothing here
// is redacted. When it grows long and no turn runs, the transcript up to that point takes its place.

/** The position in the transcript of a session that stands for everything before the log. */
export type TranscriptMark = number;

export type SessionLog = {
  /** Undefined if the log has the session from its beginning. */
  readonly before: TranscriptMark | undefined;
  /** Bytes of the running turn that did not fit. */
  readonly omittedBytes: number;
  readonly bytes: number;
  /** Copies whole lines. */
  add(bytes: Buffer, start: number, end: number): void;
  line(line: string): void;
  /** The transcript has everything up to now. */
  replacedBy(mark: TranscriptMark): void;
  /** Whole lines, oldest first. */
  blocks(): readonly Buffer[];
};

const BLOCK_BYTES = 64 * 1024;

/** `maxBytes`: a turn that is longer loses its beginning. */
export function createSessionLog(maxBytes: number, before: TranscriptMark | undefined): SessionLog {
  let mark = before;
  let full: Buffer[] = [];
  let block: Buffer | undefined;
  let used = 0;
  let bytes = 0;
  let omittedBytes = 0;

  function blocks(): Buffer[] {
    return block && used > 0 ? [...full, block.subarray(0, used)] : full;
  }
  /** A line lies in one block, so that whole blocks can be dropped. */
  function room(length: number): Buffer {
    if (block && used + length <= block.length) return block;
    full = blocks();
    block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, length));
    used = 0;
    return block;
  }
  function added(length: number): void {
    used += length;
    bytes += length;
    while (bytes > maxBytes && full.length > 0) {
      const oldest = full.shift() as Buffer;
      bytes -= oldest.length;
      omittedBytes += oldest.length;
    }
  }
  return {
    get before() {
      return mark;
    },
    get omittedBytes() {
      return omittedBytes;
    },
    get bytes() {
      return bytes;
    },
    add(source, start, end) {
      source.copy(room(end - start), used, start, end);
      added(end - start);
    },
    line(line) {
      const length = Buffer.byteLength(line);
      room(length).write(line, used);
      added(length);
    },
    replacedBy(next) {
      mark = next;
      full = [];
      block = undefined;
      used = 0;
      bytes = 0;
      omittedBytes = 0;
    },
    blocks,
  };
}
