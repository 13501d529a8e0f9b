// Every command, read from the parser itself: starting a process for each would be slow.
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';

type Found = { readonly words: readonly string[]; readonly command: Command };

/** The root command comes first, with no words. Hidden commands and `help` are left out. */
export function allCommands(): Found[] {
  const below = (command: Command, words: readonly string[]): Found[] => [
    { words, command },
    ...command.commands.filter(isForPeople).flatMap((inner) => below(inner, [...words, inner.name()])),
  ];
  return below(
    createProgram([], () => {}),
    [],
  );
}

const isForPeople = (command: Command) => command.name() !== 'help' && !command.name().startsWith('__');

/** What `--help` prints, including the text after the options. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
