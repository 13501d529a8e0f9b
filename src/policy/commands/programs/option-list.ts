// A short notation for tables with hundreds of options: spellings grouped by their type, with commas between options.
import type { Options, WordType } from '../program.ts';

/** `{ none: '-a --all, -q', number: '-n --lines=' }` becomes one entry for each option. */
export function optionList(spellingsByType: Readonly<Partial<Record<WordType, string>>>): Options {
  const options: Record<string, WordType> = {};
  for (const [type, spellings] of Object.entries(spellingsByType) as [WordType, string][])
    for (const option of spellings.split(',')) options[option.trim().replace(/\s+/g, ' ')] = type;
  return options;
}

/** `flags('-a --all, -l')`: options that take no value and have no effect. */
export const flags = (...lists: readonly string[]): Options => optionList({ none: lists.join(', ') });

export const HELP = flags('--help, --version');

export const LISTED_FILES = 'unclear:reads the files that a list names';
