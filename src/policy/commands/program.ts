// The format of the program table: what each option and operand of a program means. Data only; `effects.ts` reads it.

/**
 * What one word means.
 *
 * - `none` (a flag), `number`, `text`, `date`, `pattern`, `revision` and `one:a,b` have no effect. `number` and `one:` are checked, so a wrong
 *   arity is reported instead of hiding the next word: prefer them to `text`.
 * - `read` a file's content, `names` metadata or a directory listing, `walk` everything below (a file too, if it is one).
 * - `write` creates or replaces, `modify` edits in place, `append`, `delete`, `unpack` files whose names the input decides.
 * - `enter` is the directory for what follows.
 * - `run` names a program, `command` starts a command line that lasts to the end of the words (or to `;` and `+` for find).
 * - `project:NAME` runs the project's own code: a script, its tests, its build.
 * - `argument` goes to the project's own code, which may take it, or what follows its `=`, for a file.
 * - `url` and `host` connect. `env` shows or sets an environment variable; `env-or-value` is `NAME=value`, or shows the variable NAME.
 * - `address-or-name` and `repository` are gh's: an address, or `host/owner/name`, connects to that host.
 * - `revision-or-path` and `pathspec` are git's two notions; `untracked-pathspec` reads files below it that git does not track, too (`git add`).
 *   `line-range` is `10,20:file`, `:function:file` or only the range.
 * - `data` is text, or `@file` (also `name=@file`, `name=<file`) whose content is used: curl -d. `form` is a field of a form, `name=value` or
 *   `name=@file`: curl -F. `plain-file` is read, but a pattern of the program's own is not understood: curl -T.
 * - `move` takes a file away to another name.
 * - `script:LANGUAGE` is a program in a small language; an understood subset has effects of its own.
 * - `glob` is a pattern of file names that widens every walk of the command: it can match hidden and ignored files (`rg -g`). A pattern that
 *   only narrows a walk (`grep --include`) is a `pattern`.
 * - `format` is a format of printf: its numbers are arithmetic for some shells, which can set variables.
 * - `sets:MODIFIER` is a flag that widens every walk of the command: hidden files, ignored files, following links.
 * - `unclear:REASON` is known and always asked about; the reason is shown.
 */
export type WordType =
  | 'none'
  | 'number'
  | 'text'
  | 'date'
  | 'pattern'
  | 'glob'
  | 'revision'
  | `one:${string}`
  | 'read'
  | 'names'
  | 'walk'
  | 'write'
  | 'modify'
  | 'append'
  | 'delete'
  | 'move'
  | 'unpack'
  | 'enter'
  | 'run'
  | 'command'
  | `project:${string}`
  | 'url'
  | 'host'
  | 'argument'
  | 'env'
  | 'env-or-value'
  | 'address-or-name'
  | 'repository'
  | 'revision-or-path'
  | 'pathspec'
  | 'untracked-pathspec'
  | 'line-range'
  | 'data'
  | 'form'
  | 'plain-file'
  | 'format'
  | `script:${'sed' | 'jq' | 'awk' | 'shell'}`
  | `sets:${WalkModifier}`
  | `unclear:${string}`;

/** `follows` enters directories through links. `links` opens files that are links: harmless where the disk shows none. */
export type WalkModifier = 'hidden' | 'ignored' | 'follows' | 'links';

/**
 * How a program reads its words.
 *
 * - `gnu`: options anywhere, clusters (`-la`), `--x=v` and `--x v`, `--` ends options. Abbreviated long options are not understood.
 * - `posix`: as `gnu`, but the first operand ends the options (`env`, `timeout`, shell builtins).
 * - `git`: as `gnu`, with global options before the subcommand, `-5`, and `--` between revisions and paths.
 * - `exact`: long options spelled exactly, clusters of short ones (clap, curl, npm).
 * - `first`: options until the first operand, which is code; the rest belongs to that code (node, python, sh).
 * - `find`: starting points, then an expression.
 * - `tar`: the first word may be a bundle of letters without `-`.
 * - `keys`: `key=value` words (`dd`, `make VAR=`).
 * - `cobra`: flags anywhere, no clusters of long names (docker, kubectl, gh).
 * - `goflag`: `-x` is `--x`, no clusters, the first operand ends the options.
 * - `words`: no options at all; every word is an operand (`echo`, `true`).
 */
export type Convention = 'gnu' | 'posix' | 'git' | 'exact' | 'first' | 'find' | 'tar' | 'keys' | 'cobra' | 'goflag' | 'words';

/** Spellings, as in a manual: `-n --lines=` takes a value, `--color[=]` only an attached one, `-v --verbose` none. */
export type Options = Readonly<Record<string, WordType | readonly WordType[]>>;

/**
 * The operands of a program. The first form whose conditions hold applies. Conditions name the first spelling of an option: one of `if` is
 * given, none of `unless` is.
 */
export type Operands = {
  readonly if?: readonly string[];
  readonly unless?: readonly string[];
  /** By position, from the left. Operands beyond `first` and `last` have the type `rest`; without it they are not understood. */
  readonly first?: readonly WordType[];
  /** By position, from the right. Applies before `rest`. */
  readonly last?: readonly WordType[];
  readonly rest?: WordType;
  /** The operands after `--`, where they differ. */
  readonly dashed?: WordType;
  /** A pattern that every operand must match, as the source of a regular expression. */
  readonly match?: string;
  readonly min?: number;
  readonly max?: number;
  /** Effects when no operand has the type `rest`: `ls` lists `.`, `rg TODO` searches it. */
  readonly none?: readonly StatedEffect[];
};

/**
 * An effect that does not come from a word. `path` is relative to the directory of the command, or starts with `~/`, `/` or `$repository/`.
 * Of what a program does unasked, it may start with `any:`: files of that name wherever the program looks.
 */
export type StatedEffect =
  | { readonly kind: 'read' | 'names' | 'walk' | 'write' | 'modify' | 'append' | 'delete' | 'move' | 'unpack'; readonly path: string }
  /** git: files that it does not track, too. */
  | { readonly kind: 'walk'; readonly path: string; readonly isUntracked: true }
  | { readonly kind: 'run'; readonly program: string }
  | { readonly kind: 'project'; readonly name: string }
  | { readonly kind: 'connect'; readonly host?: string }
  | { readonly kind: 'environment' };

export type Program = {
  readonly name: string;
  /** The manual page and the versions the entry was checked against: `rg(1), ripgrep 13.0 and 14.1`. */
  readonly manual: string;
  readonly parse: Convention;
  /** Other names of the same program or subcommand. */
  readonly aliases?: readonly string[];
  /** Options in front of the subcommand. */
  readonly before?: Options;
  readonly options?: Options;
  readonly commands?: Readonly<Record<string, Subcommand>>;
  readonly operands?: readonly Operands[];
  /** `'-i': { read: 'modify' }`: an option that changes what the operands mean, and what the archive of `tar -f` means. */
  readonly turns?: Readonly<Record<string, Readonly<Partial<Record<WordType, WordType>>>>>;
  /** At least one option of each group must be given: `tar` needs one of -c, -t, -x. */
  readonly needs?: readonly (readonly string[])[];
  /** What the program reads, writes, runs or connects to without being told. */
  readonly unasked?: readonly StatedEffect[];
  /** `-20` is a number: head, tail, grep. (Under the convention `git` it always is.) */
  readonly digits?: true;
  /** Environment variables that change what it does. */
  readonly ambient?: readonly string[];
  /** What standard input is; `code` is never understood without operands. */
  readonly stdin?: 'data' | 'code' | 'names';
  /** What walks see by default, where that is more than visible files (`grep -r` sees hidden and ignored ones). */
  readonly walks?: readonly WalkModifier[];
  /** Options with a value that widen every walk as well: `'-t': ['hidden']` for `rg -t sh`, which finds hidden scripts. */
  readonly widens?: Readonly<Record<string, readonly WalkModifier[]>>;
  /** git: walks read tracked files only. */
  readonly isTracked?: true;
  /** git diff: where there is no repository, two operands are files or directories that it compares as diff does. */
  readonly comparesPaths?: true;
  /** git: the named files are changed, not only read (`checkout`, `restore`). */
  readonly changesPathspecs?: true;
  /** What it copies or moves into a directory keeps its name: `cp a/package.json .` writes `./package.json`. */
  readonly keepsNames?: true;
  /** What it replaces gets another name: the first suffix is added, or one of them removed. `option` names another suffix. */
  readonly renames?: { readonly suffixes: readonly string[]; readonly option?: string };
  /** Where it takes a file, it also takes an address to fetch it from. */
  readonly opensAddresses?: true;
  /** The commands it starts are packages or modules of its own, so a name means the program of the table only if it is one of these. */
  readonly starts?: readonly string[];
  /** The file types of `-t`, with the names of their files. */
  readonly types?: Readonly<Record<string, readonly string[]>>;
  /** Words after `--` go to a script of the project (npm), or to a test runner. */
  readonly passes?: 'script' | 'runner';
  /** A subcommand or program that is for writing files: a rule that names it allows writes inside the project by operand. */
  readonly isWriter?: true;
};

export type Subcommand = Omit<Program, 'name' | 'manual' | 'parse' | 'before'> & { readonly parse?: Convention };
