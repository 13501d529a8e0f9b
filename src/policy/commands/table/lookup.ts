// The program table, compiled: every spelling of an option leads to its meaning in one look-up.
import type { Convention, Options, Program, Subcommand, WordType } from '../program.ts';

export type Option = {
  /** The first spelling in the table: conditions and patterns compare by it. */
  readonly first: string;
  readonly takes: 'nothing' | 'value' | 'attached';
  readonly types: readonly WordType[];
};

export type Entry = {
  readonly name: string;
  readonly data: Program | Subcommand;
  readonly parse: Convention;
  readonly options: ReadonlyMap<string, Option>;
  /** What may stand in front of a subcommand. */
  readonly before: ReadonlyMap<string, Option>;
  readonly commands: ReadonlyMap<string, Entry>;
  readonly parent: Entry | undefined;
  readonly manual: string;
};

export type ProgramTable = { find(name: string): Entry | undefined; readonly names: readonly string[] };

/** Programs are compiled when they are first looked up: most of the table is never needed. */
export function createTable(programs: readonly Program[]): ProgramTable {
  const byName = new Map<string, Program>();
  for (const program of programs) for (const name of [program.name, ...(program.aliases ?? [])]) byName.set(name, program);
  const compiled = new Map<Program, Entry>();
  return {
    find(name) {
      const program = byName.get(name);
      if (program === undefined) return undefined;
      let entry = compiled.get(program);
      if (entry === undefined) {
        entry = compileEntry(program.name, program, program.parse, undefined, program.manual);
        compiled.set(program, entry);
      }
      return entry;
    },
    names: [...byName.keys()],
  };
}

function compileEntry(name: string, data: Program | Subcommand, parse: Convention, parent: Entry | undefined, manual: string): Entry {
  const own = compileOptions(data.options);
  const global = 'before' in data ? compileOptions(data.before) : [];
  // cobra, clap and npm accept global options after the subcommand too.
  const isAnywhere = parse === 'cobra' || parse === 'exact';
  // Elsewhere they mean something else there: -m of `git stash` is a message, -m of `git stash show` a flag.
  const inherited = parent === undefined || !isAnywhere ? [] : [...parent.options, ...parent.before];
  const commands = new Map<string, Entry>();
  const entry: Entry = {
    name,
    data,
    parse,
    options: new Map([...inherited, ...own]),
    before: new Map([...inherited, ...own, ...global]),
    commands,
    parent,
    manual,
  };
  for (const [key, command] of Object.entries(data.commands ?? {})) {
    const below = compileEntry(key, command, command.parse ?? parse, entry, manual);
    for (const alias of [key, ...(command.aliases ?? [])]) commands.set(alias, below);
  }
  return entry;
}

function compileOptions(options: Options = {}): [string, Option][] {
  return Object.entries(options).flatMap(([key, type]) => {
    const types = typeof type === 'string' ? [type] : type;
    const words = key.split(' ').filter((word) => word !== '');
    const others = words.some((word) => word.endsWith('[=]')) ? 'attached' : words.some((word) => word.endsWith('=')) ? 'value' : 'nothing';
    const first = spelling(words[0] ?? '');
    return words.map((word): [string, Option] => {
      const takes = word.endsWith('[=]') ? 'attached' : word.endsWith('=') ? 'value' : others;
      return [spelling(word), { first, takes, types }];
    });
  });
}

const spelling = (word: string): string => word.replace(/(\[=\]|=)$/, '');

/** The options that a long option may be short for, the likeliest first. Only denies ask: an abbreviation is never understood. */
export function abbreviated(options: ReadonlyMap<string, Option>, name: string): readonly Option[] {
  if (!name.startsWith('--') || name.length < 3) return [];
  return [...options]
    .filter(([spelled]) => spelled.startsWith(name))
    .sort(([a], [b]) => a.length - b.length)
    .map(([, option]) => option);
}
