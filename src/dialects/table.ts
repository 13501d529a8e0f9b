// Spellings of earlier days (rows 8, 25–28 of docs/dialects.md) and what ACP calls them now. Data only.

/** Requests of agents by their earlier names. */
export const METHODS: Readonly<Record<string, string>> = {
  'fs/readTextFile': 'fs/read_text_file',
  'fs/writeTextFile': 'fs/write_text_file',
  'fs.readTextFile': 'fs/read_text_file',
  'fs.writeTextFile': 'fs/write_text_file',
};

/** In a `current_mode_update`, as an example in the documentation had it, and as it is. */
export const EARLIER_MODE = 'modeId';
export const MODE = 'currentModeId';
