// The names that tools give to their parameters. `filePath`, `file_path` and `File-Path` are one name.

/** A name as the sets below have it. */
export const plainKey = (key: string): string => key.toLowerCase().replace(/[_-]/g, '');

const keys = (names: string): ReadonlySet<string> => new Set(names.split(' '));

export const COMMAND_KEYS = keys('command cmd commandline cmdline shellcommand script run exec bash argv');
export const STDIN_KEYS = keys('stdin standardinput input');
export const ENVIRONMENT_KEYS = keys('env environment envvars environmentvariables');
export const WORKDIR_KEYS = keys('cwd workdir workingdirectory directory dirpath');
export const PATH_KEYS = keys(
  'filepath path filename file notebookpath targetfile absolutepath relativepath oldpath newpath source destination sourcepath destinationpath target paths files filepaths uri',
);
/** Text that is written, searched for or said; a path in it is not one that is opened. */
export const TEXT_KEYS = keys(
  'content contents filetext newstring oldstring newtext oldtext newstr oldstr diff patch text input stdin standardinput description explanation reason pattern query prompt message instructions plan regex title',
);
export const PATCH_KEYS = keys('patch input diff');
export const WRITE_KEYS = keys('content contents filetext newstring newtext newstr diff patch edits changes');
