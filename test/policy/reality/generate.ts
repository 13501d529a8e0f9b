// Command lines from the program table itself: every option alone and in pairs with options that have an effect, in the spellings and
// orders that its convention knows.
import type { Operands, WordType } from '../../../src/policy/commands/program.ts';
import type { Entry, Option } from '../../../src/policy/commands/table/lookup.ts';
import { hintsFor } from './hints.ts';
import { type Random, randomValue } from './values.ts';

export type Generated = {
  readonly argv: readonly string[];
  /** `git log`, and the first spelling of the option that the line is about. */
  readonly command: string;
  readonly option: string | undefined;
};

/** A command whose words can be generated: a program, or one of its subcommands, at any depth. */
export type Leaf = {
  readonly path: readonly string[];
  readonly entry: Entry;
  readonly options: readonly Spelled[];
  readonly before: readonly Spelled[];
};
export type Spelled = Option & { readonly spellings: readonly string[] };

export function leavesOf(entry: Entry, above: readonly string[] = []): Leaf[] {
  const path = [...above, entry.name];
  const below = new Set(entry.commands.values());
  const own = below.size === 0 || entry.data.operands !== undefined || entry.options.size > 0 ? [leafOf(path, entry)] : [];
  return [...own, ...[...below].flatMap((command) => leavesOf(command, path))];
}

function leafOf(path: readonly string[], entry: Entry): Leaf {
  const root = entry.parent === undefined ? entry : rootOf(entry);
  return { path, entry, options: spelled(entry.options), before: entry.parent === undefined ? [] : spelled(root.before) };
}

const rootOf = (entry: Entry): Entry => (entry.parent === undefined ? entry : rootOf(entry.parent));

function spelled(options: ReadonlyMap<string, Option>): Spelled[] {
  const byFirst = new Map<string, { option: Option; spellings: string[] }>();
  for (const [spelling, option] of options) {
    const known = byFirst.get(option.first);
    if (known === undefined) byFirst.set(option.first, { option, spellings: [spelling] });
    else known.spellings.push(spelling);
  }
  return [...byFirst.values()].map(({ option, spellings }) => ({ ...option, spellings }));
}

const HARMLESS = /^(?:none|number|text|date|pattern|revision|one:.*)$/;
export const isEffectful = ({ types }: Option): boolean => types.some((type) => !HARMLESS.test(type));
const isUnclear = ({ types }: Option): boolean => types.some((type) => type.startsWith('unclear:'));

/** Every option `alone` times, then in pairs with options that have an effect, then at random up to `count` lines. */
export function* generate(
  leaf: Leaf,
  random: Random,
  { alone, pairs, others }: { alone: number; pairs: number; others: number },
): Generator<Generated> {
  const { entry, options } = leaf;
  const usable = options.filter((option) => !isUnclear(option));
  for (let index = 0; index < 4; index++) yield line(leaf, [], random, undefined);
  for (const option of usable) for (let index = 0; index < alone; index++) yield line(leaf, [option], random, option.first);
  const effectful = usable.filter(isEffectful);
  for (const option of usable)
    for (let index = 0; index < Math.min(pairs, effectful.length); index++)
      yield line(leaf, shuffled([option, random.pick(effectful)], random), random, option.first);
  if (usable.length > 0)
    for (let index = 0; index < others; index++) {
      const count = 2 + random.below(3);
      yield line(
        leaf,
        Array.from({ length: count }, () => random.pick(usable)),
        random,
        undefined,
      );
    }
  for (const option of entry.parent === undefined ? [] : leaf.before.filter((one) => !isUnclear(one) && !entry.options.has(one.first)))
    if (random.chance(0.2)) yield line(leaf, [], random, undefined, [option]);
}

/** One line with these options and operands that fit them. */
export function line(
  leaf: Leaf,
  options: readonly Spelled[],
  random: Random,
  about: string | undefined,
  before: readonly Spelled[] = [],
): Generated {
  const { path, entry } = leaf;
  const command = path.join(' ');
  const hints = hintsFor(path);
  const own = options.length === 0 ? [''] : options.map(({ first }) => first);
  const also = ['*', ...own].flatMap((name) => hints.also?.[name] ?? []);
  const wanted = [...options, ...required(leaf, [...options.map(({ first }) => first), ...also], random)];
  const given = new Set(wanted.map(({ first }) => first));
  const usual = hints.operands && random.chance(0.7) ? random.pick(hints.operands)(random) : operandsFor(entry, given, random);
  const operands = also.includes('--') ? [] : usual;
  const words = [...wanted.map((option) => write(leaf, option, random, command)), also];
  const isLate = (entry.parse === 'gnu' || entry.parse === 'git' || entry.parse === 'cobra') && operands.length > 0 && random.chance(0.15);
  const global = before.flatMap((option) => write(leaf, option, random, command));
  const argv = isLate
    ? [path[0] as string, ...global, ...path.slice(1), ...operands.filter((word) => word !== '--'), ...words.flat()]
    : entry.parse === 'find'
      ? [...path, ...operands, ...words.flat()]
      : [
          path[0] as string,
          ...global,
          ...path.slice(1),
          ...words.flat(),
          ...(operands.length > 0 && random.chance(0.08) && !operands.includes('--') ? ['--'] : []),
          ...operands,
        ];
  return { argv, command, option: about };
}

// `tar` needs a mode and an archive.
function required({ entry, options }: Leaf, given: readonly string[], random: Random): Spelled[] {
  const names = new Set(given);
  return (entry.data.needs ?? []).flatMap((group) => {
    if (group.some((name) => names.has(name))) return [];
    const usable = options.filter((option) => group.includes(option.first) && !isUnclear(option));
    const chosen = usable.length === 0 ? undefined : random.pick(usable.slice(0, 4));
    if (chosen !== undefined) names.add(chosen.first);
    return chosen ?? [];
  });
}

function write({ entry, path }: Leaf, option: Spelled, random: Random, command: string): string[] {
  const spelling = random.pick(option.spellings);
  const isLong = spelling.startsWith('--') || entry.parse === 'goflag' || entry.parse === 'find';
  if (option.types[0] === 'command') return [spelling, 'cat', 'src/a.txt', ...(entry.parse === 'find' ? [';'] : [])];
  if (option.takes === 'nothing') return [spelling];
  const hinted = hintsFor(path).values?.[option.first];
  const values = option.types.map((type, index) =>
    hinted && index === option.types.length - 1 && random.chance(0.75) ? random.pick(hinted) : randomValue(type, random),
  );
  const [value = ''] = values;
  if (entry.parse === 'keys' && !spelling.startsWith('-')) return [`${spelling}=${value}`];
  if (option.takes === 'attached') {
    if (random.chance(0.3)) return [spelling];
    return [isLong ? `${spelling}=${value}` : `${spelling}${value}`];
  }
  if (values.length === 1 && random.chance(0.35) && command !== 'find') {
    if (spelling.startsWith('--')) return [`${spelling}=${value}`];
    if (!isLong && !value.startsWith('=')) return [`${spelling}${value}`];
  }
  return [spelling, ...values];
}

export function operandsFor(entry: Entry, given: ReadonlySet<string>, random: Random): string[] {
  const isGiven = (name: string) => given.has(name);
  const form = entry.data.operands?.find(
    (one) => (one.if === undefined || one.if.some(isGiven)) && (one.unless === undefined || !one.unless.some(isGiven)),
  );
  if (form === undefined) return [];
  const { first = [], last = [], rest, dashed, min = 0, max = 4 } = form;
  const wantsRest = rest === undefined ? 0 : random.pick([0, 1, 1, 1, 2]);
  const count = Math.max(min, Math.min(max, first.length + last.length + wantsRest));
  const words: string[] = [];
  for (let index = 0; index < count; index++) {
    const type = typeAt(form, index, count);
    if (type === 'command')
      return [
        ...words,
        ...random.pick([
          ['cat', 'src/a.txt'],
          ['ls', 'src'],
          ['echo', 'a'],
        ]),
      ];
    if (type !== undefined) words.push(turnedValue(entry, type, given, random));
  }
  return dashed !== undefined && random.chance(0.3) ? [...words, '--', turnedValue(entry, dashed, given, random)] : words;
}

function typeAt({ first = [], last = [], rest }: Operands, index: number, count: number): WordType | undefined {
  const fromRight = count - index;
  return first[index] ?? (fromRight <= last.length ? last[last.length - fromRight] : rest);
}

function turnedValue(entry: Entry, type: WordType, given: ReadonlySet<string>, random: Random): string {
  for (const [option, types] of Object.entries(entry.data.turns ?? {}))
    if (given.has(option)) return randomValue(types[type] ?? type, random);
  return randomValue(type, random);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return random.chance(0.5) ? [...items] : [...items].reverse();
}
