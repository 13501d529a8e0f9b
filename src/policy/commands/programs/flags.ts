// What many programs of the table share: options without a value or an effect, and reasons.
import type { Options } from '../program.ts';
import { optionList } from './option-list.ts';

/** `flags('-a --all, -l')`: options that take no value and have no effect, one entry for each comma. */
export const flags = (...lists: readonly string[]): Options => optionList({ none: lists.join(', ') });

export const HELP = flags('--help, --version');

export const LISTED_FILES = 'unclear:reads the files that a list names';
