// What the parser of the command line complains about, in the form all our complaints have: what it is, and below it what to type instead.
import type { Command } from 'commander';

/** For a command and those below it. */
export function complainInOurWords(command: Command, words: readonly string[] = [command.name()]): void {
  command.configureOutput({
    outputError(text, write) {
      const { message, meant } = usageWords(text);
      write(`switchboard: ${message}\n  ${meant ?? `see: ${words.join(' ')} --help`}\n`);
    },
  });
  for (const below of command.commands) complainInOurWords(below, [...words, below.name()]);
}

export function usageWords(text: string): { readonly message: string; readonly meant: string | undefined } {
  const [message = '', ...more] = text
    .replace(/^error: /, '')
    .replaceAll("'", '"')
    .trimEnd()
    .split('\n');
  const names = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(more.join(' '))?.[1]?.split(', ');
  return { message, meant: names && `did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` };
}
