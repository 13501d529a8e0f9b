import { withoutControls } from '../control-characters.ts';

/** Words for people: always on stderr, since stdout belongs to the protocol. */
export function notice(text: string): void {
  process.stderr.write(`switchboard: ${withoutControls(text)}\n`);
}

/** For a command that talks with a program: nothing more would come, and whoever typed it would wait in vain. */
export function noticeAtTerminal(awaited: string): void {
  if (process.stdin.isTTY)
    notice(`waiting for ${awaited} on stdin, and this is a terminal. Ctrl-C ends it; to talk to agents from here: switchboard run`);
}
