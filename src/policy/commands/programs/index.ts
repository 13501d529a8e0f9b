// The program table: one line for each family.
import { createTable } from '../table/lookup.ts';
import { ARCHIVE_PROGRAMS } from './archives.ts';
import { BYTE_PROGRAMS } from './bytes.ts';
import { CHANGE_PROGRAMS } from './changes.ts';
import { COMPARE_PROGRAMS } from './compare.ts';
import { COMPRESSION_PROGRAMS } from './compression.ts';
import { FIELD_PROGRAMS } from './fields.ts';
import { FIND_PROGRAMS } from './find.ts';
import { GIT_PROGRAMS } from './git/git.ts';
import { CHECKER_PROGRAMS } from './javascript/checkers.ts';
import { NPM_PROGRAMS } from './javascript/npm.ts';
import { PACKAGE_MANAGER_PROGRAMS } from './javascript/package-managers.ts';
import { RUNTIME_PROGRAMS } from './javascript/runtimes.ts';
import { TEST_RUNNER_PROGRAMS } from './javascript/test-runners.ts';
import { BUILD_PROGRAMS } from './languages/build.ts';
import { GO_PROGRAMS } from './languages/go.ts';
import { OTHER_LANGUAGE_PROGRAMS } from './languages/others.ts';
import { PYTHON_PROGRAMS } from './languages/python.ts';
import { RUST_PROGRAMS } from './languages/rust.ts';
import { LISTING_PROGRAMS } from './listing.ts';
import { SCRIPT_PROGRAMS } from './scripts.ts';
import { SEARCH_PROGRAMS } from './search.ts';
import { CONTAINER_PROGRAMS } from './services/containers.ts';
import { GH_PROGRAMS } from './services/gh.ts';
import { TRANSFER_PROGRAMS } from './services/transfer.ts';
import { BUILTINS, SHELLS, WRAPPER_PROGRAMS } from './shell.ts';
import { SYSTEM_PROGRAMS } from './system.ts';
import { TEXT_PROGRAMS } from './text.ts';

export const PROGRAM_TABLE = createTable([
  ...ARCHIVE_PROGRAMS,
  ...BYTE_PROGRAMS,
  ...CHANGE_PROGRAMS,
  ...COMPARE_PROGRAMS,
  ...COMPRESSION_PROGRAMS,
  ...FIELD_PROGRAMS,
  ...FIND_PROGRAMS,
  ...GIT_PROGRAMS,
  ...CHECKER_PROGRAMS,
  ...NPM_PROGRAMS,
  ...PACKAGE_MANAGER_PROGRAMS,
  ...RUNTIME_PROGRAMS,
  ...TEST_RUNNER_PROGRAMS,
  ...BUILD_PROGRAMS,
  ...GO_PROGRAMS,
  ...OTHER_LANGUAGE_PROGRAMS,
  ...PYTHON_PROGRAMS,
  ...RUST_PROGRAMS,
  ...LISTING_PROGRAMS,
  ...SCRIPT_PROGRAMS,
  ...SEARCH_PROGRAMS,
  ...CONTAINER_PROGRAMS,
  ...GH_PROGRAMS,
  ...TRANSFER_PROGRAMS,
  ...BUILTINS,
  ...SHELLS,
  ...WRAPPER_PROGRAMS,
  ...SYSTEM_PROGRAMS,
  ...TEXT_PROGRAMS,
]);
