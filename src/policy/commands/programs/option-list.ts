// A short notation for tables with hundreds of options: spellings grouped by their type, with commas between options.
import type { Options, StatedEffect, WordType } from '../program.ts';

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

/** rg and fd: the ignore files of every directory they walk and of the repository around it, and the one that git's configuration names. */
export const READS_IGNORE_FILES: readonly StatedEffect[] = [
  { kind: 'read', path: 'any:.gitignore' },
  { kind: 'read', path: 'any:.ignore' },
  { kind: 'read', path: 'any:.git/info/exclude' },
  { kind: 'read', path: '~/.config/git/ignore' },
  { kind: 'read', path: '~/.gitconfig' },
  { kind: 'read', path: '~/.config/git/config' },
];
