// The program table: one line for each family.
import { createTable } from '../table/lookup.ts';
import { TEXT_PROGRAMS } from './text.ts';

export const PROGRAM_TABLE = createTable([
  ...TEXT_PROGRAMS, //
]);
