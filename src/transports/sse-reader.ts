// Server-sent events as lines: the data of each event is one frame. Comments show that the peer is alive.
const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DATA = Buffer.from('data');
const LINE_FEED = Buffer.from('\n');

export type SseEvents = {
  /** The data of an event, with a line feed at its end. */
  line(line: Buffer): void;
  comment(): void;
  /** An event is longer than allowed; what follows is not read. */
  tooLong(): void;
};

/** `push` takes the bytes of the response body as they come. */
export function createSseReader(maxBytes: number, on: SseEvents): { push(chunk: Buffer): void } {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let data: Buffer[] = [];
  let dataBytes = 0;
  let isOver = false;

  function field(line: Buffer): void {
    if (line.length === 0) return dispatch();
    if (line[0] === COLON) return on.comment();
    const colon = line.indexOf(COLON);
    const nameEnd = colon === -1 ? line.length : colon;
    if (nameEnd !== DATA.length || line.compare(DATA, 0, DATA.length, 0, nameEnd) !== 0) return;
    const from = colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    data.push(line.subarray(from));
    dataBytes += line.length - from + 1; // an empty line takes memory too
    if (dataBytes > maxBytes + 1) end();
  }
  function dispatch(): void {
    if (data.length === 0) return;
    // Lines of one event are joined by a line feed, which a frame may only have between its tokens.
    const [only] = data;
    const text = data.length === 1 && only ? only : Buffer.concat(data.flatMap((part, k) => (k === 0 ? [part] : [Buffer.from(' '), part])));
    data = [];
    dataBytes = 0;
    if (text.length > 0) on.line(Buffer.concat([text, LINE_FEED]));
  }
  function end(): void {
    isOver = true;
    rest = [];
    data = [];
    on.tooLong();
  }
  return {
    push(chunk) {
      let at = 0;
      while (!isOver) {
        const end = chunk.indexOf(LF, at);
        if (end === -1) break;
        const tail = chunk.subarray(at, end);
        const whole = rest.length === 0 ? tail : Buffer.concat([...rest, tail]);
        rest = [];
        restBytes = 0;
        field(whole.at(-1) === CR ? whole.subarray(0, -1) : whole);
        at = end + 1;
      }
      if (isOver || at === chunk.length) return;
      rest.push(chunk.subarray(at));
      restBytes += chunk.length - at;
      if (restBytes > maxBytes + 16) end();
    },
  };
}
