// Cuts the chunks of a writer into its lines, for transports that send each frame on its own. The writer has checked the length of frames.
import { LF } from '../frame.ts';

/** Returns the function that takes the chunks. Each line ends with its line feed, and may share memory with its chunk. */
export function eachLine(onLine: (line: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const feed = chunk.indexOf(LF, at);
      const end = feed === -1 ? chunk.length : feed + 1;
      rest.push(chunk.subarray(at, end));
      at = end;
      if (feed === -1) continue;
      const line = rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest);
      rest = [];
      onLine(line);
    }
  };
}
