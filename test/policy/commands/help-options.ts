// Reads the options and their arity out of the snapshots of `--help`, and out of the program table.
import type { Options, Program, Subcommand } from '../../../src/policy/commands/program.ts';

/** `attached`: the value is optional and part of the same word. */
export type Arity = 'none' | 'value' | 'attached';
export type Section = { readonly command: readonly string[]; readonly options: ReadonlyMap<string, ReadonlySet<Arity>> };

const SPELLING = /^(--?(?:[A-Za-z0-9][\w-]*|[?.@~"#:^]))(.*)$/;

/** The sections of a snapshot. The command of a section is its words up to the first option. */
export function readSnapshot(text: string): readonly Section[] {
  const [, ...sections] = `\n${text}`.split(/\n\$ /);
  return sections.map((section) => {
    const [command = '', ...lines] = section.trimEnd().split('\n');
    const words = command.split(' ');
    const end = words.findIndex((word) => word.startsWith('-'));
    return { command: words.slice(0, end === -1 ? words.length : end), options: readLines(lines) };
  });
}

function readLines(lines: readonly string[]): ReadonlyMap<string, ReadonlySet<Arity>> {
  const options = new Map<string, Set<Arity>>();
  for (const line of lines) {
    const found = line
      .split(/,?\s+(?=-)/)
      .map((part) => SPELLING.exec(part))
      .filter((match) => match !== null)
      .map(([, spelling = '', rest = '']) => ({ spelling, arity: arityOf(rest) }));
    const long = found.findLast(({ spelling, arity }) => spelling.startsWith('--') && arity !== undefined)?.arity;
    for (const { spelling, arity = long ?? 'none' } of found) {
      // `-f, --follow[=HOW]`: whether the letter takes an attached value too is not said.
      if (arity === 'attached' && long === 'attached' && !spelling.startsWith('--') && !line.includes(`${spelling}[`)) continue;
      const arities = options.get(spelling) ?? new Set();
      options.set(spelling, arities.add(arity));
    }
  }
  return options;
}

/** Undefined if nothing follows the spelling: `-n, --lines=NUM` says it of the last one only. */
function arityOf(rest: string): Arity | undefined {
  if (/^\s*(,|$)/.test(rest)) return undefined;
  if (/^(\[|#| ?\[=)/.test(rest)) return 'attached';
  if (/^ ?=/.test(rest)) return 'value';
  if (/^ (<|\[|\{|[A-Z#][A-Z0-9_#.+-]*(?=$|[ ,\]]))/.test(rest)) return 'value';
  return /^ [a-z'][\w'+:<>=,-]*$/.test(rest) ? 'value' : 'none';
}

/** Every spelling of a table's options with its arity. */
export function spellingsOf(options: Options = {}): ReadonlyMap<string, Arity> {
  return new Map(
    Object.keys(options).flatMap((key) => {
      const words = key.split(' ');
      const others = words.some((word) => word.endsWith('[=]')) ? 'attached' : words.some((word) => word.endsWith('=')) ? 'value' : 'none';
      return words.map((word): [string, Arity] => [
        word.replace(/(\[=\]|=)$/, ''),
        word.endsWith('[=]') ? 'attached' : word.endsWith('=') ? 'value' : others,
      ]);
    }),
  );
}

/** The options that a program or subcommand understands, with those of the levels above it. */
export function optionsOf(program: Program, subcommands: readonly string[]): ReadonlyMap<string, Arity> | undefined {
  let level: Program | Subcommand = program;
  const spellings = new Map([...spellingsOf(program.options), ...spellingsOf(program.before)]);
  for (const name of subcommands) {
    const commands: Readonly<Record<string, Subcommand>> = level.commands ?? {};
    const below = commands[name] ?? Object.values(commands).find(({ aliases }) => aliases?.includes(name));
    if (below === undefined) return undefined;
    for (const [spelling, arity] of spellingsOf(below.options)) spellings.set(spelling, arity);
    level = below;
  }
  return spellings;
}
