/** Words for people: always on stderr, since stdout belongs to the protocol. */
export function notice(text: string): void {
  process.stderr.write(`switchboard: ${text}\n`);
}

/** For a problem that may come again with every frame: said the first time only. */
export function noticeOnce(say: (error: unknown) => string): (error: unknown) => void {
  let isSaid = false;
  return (error) => {
    if (!isSaid) notice(say(error));
    isSaid = true;
  };
}
