// The words of a command. There is no shell here: nothing is expanded, redirected or run behind another.

/** Every shell reads such a word as it stands. */
const PLAIN = /^[\w@%+:,./=-]+$/;

/**
 * With `args`, the words as they are given. Without, some agents put a whole line into `command`, since some editors hand it to a shell:
 * a line of plain words is taken apart, and anything that only a shell could read is undefined. A policy reads it in the same way, so a
 * program with a space in its name is not looked for: it would not be what was judged.
 */
export function argvOf(command: string, args: readonly string[]): readonly string[] | undefined {
  if (args.length > 0 || !/\s/.test(command)) return [command, ...args];
  const words = command.split(' ').filter((word) => word !== '');
  const isPlain = words.every((word) => PLAIN.test(word)) && !words[0]?.includes('=');
  return isPlain && words.length > 0 ? words : undefined;
}
