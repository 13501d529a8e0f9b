// Every command there is, asked of the parser itself: a process for each would cost as many starts.
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';

type Found = { readonly words: readonly string[]; readonly command: Command };

/** The command itself comes first, with no words; hidden ones and `help` are left out. */
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

/** What `--help` prints, the text behind it included. */
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
