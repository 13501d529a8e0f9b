/** Words for people: always on stderr, since stdout belongs to the protocol. */
export function notice(text: string): void {
  process.stderr.write(`switchboard: ${text}\n`);
}
