// Which rules can apply to a program, so that a hundred rules cost no more than the few that name it.
import { programName } from '../commands/command-pattern.ts';
import type { LayeredRule } from '../policy.ts';

type Placed = { readonly rule: LayeredRule; readonly at: number };

export type RuleIndex = {
  /** The rules that name one of these programs or none at all, in their order. */
  naming(programs: readonly string[]): readonly LayeredRule[];
  /** Rules without `command`. */
  readonly others: readonly LayeredRule[];
};

const indexes = new WeakMap<readonly LayeredRule[], RuleIndex>();

/** The index of a list of rules, built on first use. */
export function indexOf(rules: readonly LayeredRule[]): RuleIndex {
  let index = indexes.get(rules);
  if (index === undefined) {
    index = createIndex(rules);
    indexes.set(rules, index);
  }
  return index;
}

function createIndex(rules: readonly LayeredRule[]): RuleIndex {
  const byName = new Map<string, Placed[]>();
  const anyName: Placed[] = [];
  for (const [at, rule] of rules.entries()) {
    const placed = { rule, at };
    const names = namesOf(rule);
    if (names === undefined) anyName.push(placed);
    else for (const name of names) byName.set(name, [...(byName.get(name) ?? []), placed]);
  }
  const always = anyName.map(({ rule }) => rule);
  return {
    naming(programs) {
      const found = new Set(programs.flatMap((program) => byName.get(program) ?? []));
      if (found.size === 0) return always;
      return [...anyName, ...found].sort((a, b) => a.at - b.at).map(({ rule }) => rule);
    },
    others: rules.filter(({ rule }) => rule.commands === undefined),
  };
}

// Undefined: any program may match. Names are kept without directory and case, as a deny compares them; that loses none for an allow.
function namesOf({ rule }: LayeredRule): ReadonlySet<string> | undefined {
  if (rule.commands === undefined) return undefined;
  const first = rule.commands.map(({ tokens }) => tokens[0]);
  if (first.some((token) => token === undefined || !token.isFixed)) return undefined;
  return new Set(first.flatMap((token) => token?.choices.map(({ source }) => programName(source)) ?? []));
}
