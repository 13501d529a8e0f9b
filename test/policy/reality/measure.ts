// Measures the check: lines of a command are traced once, and every mutant that they concern is compared with the trace.
import type { Meaning } from '../../../src/policy/commands/effect.ts';
import { meaningOf } from '../../../src/policy/commands/effects.ts';
import type { Program } from '../../../src/policy/commands/program.ts';
import { createTable } from '../../../src/policy/commands/table/lookup.ts';
import { type Facts, unpredicted } from './compare.ts';
import { isEffectful, type Leaf, line, operandsFor, type Spelled } from './generate.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { type Predicted, predictionsOf } from './predict.ts';
import type { Ran } from './run-line.ts';
import { ENVIRONMENT_CANARY, PROJECT } from './template.ts';
import type { Observed } from './trace.ts';
import type { Random } from './values.ts';

export type Measured = {
  readonly mutant: string;
  readonly kind: Mutant['kind'];
  /** `effect`: something happened that the wrong table does not state. `failure`: no line that follows the wrong table succeeds. */
  readonly found: 'effect' | 'failure' | 'no';
  /** Lines that concerned it and succeeded. */
  readonly lines: number;
  /**
   * In no such line would the wrong table leave anything unstated that the right one states, about any file of the sandbox, program or host:
   * nothing that a command does can tell the two apart. Not a mutant.
   */
  readonly isEquivalent: boolean;
  /** A line with it was compared. */
  readonly isComparable: boolean;
  /** A line with it ran the project's code: what that does, no table states. */
  readonly runsProject: boolean;
  /** It understands one of its lines. Otherwise the policy asks, as it does with the right table or more often. */
  readonly isUnderstood: boolean;
};

type Machine = {
  readonly run: (argv: readonly string[], isTerminal: boolean) => Promise<Ran>;
  readonly facts: (argv: readonly string[]) => Facts;
  readonly hasSucceeded: (ran: Ran, program: string) => boolean;
  readonly restore: (observed: readonly Observed[]) => void;
  /** Every file of the sandbox. */
  readonly files: readonly string[];
};

const LINES_EACH = 10;

export async function measure(leaf: Leaf, random: Random, share: number, kind: 'type' | 'all', machine: Machine): Promise<Measured[]> {
  const mutants = mutantsOf(leaf).filter((mutant) => (kind === 'all' || mutant.kind === kind) && random.chance(share));
  const state = new Map(
    mutants.map((mutant) => [
      mutant,
      { found: 'no' as Measured['found'], lines: 0, isEquivalent: true, isComparable: false, runsProject: false, isUnderstood: false },
    ]),
  );
  const original = createTable([rootData(leaf)]);
  const program = leaf.path[0] as string;

  /** Traces one line and compares it with the mutants that it concerns. Returns whether it succeeded. */
  const trace = async (argv: readonly string[], concerned: readonly Mutant[], isMutated: boolean): Promise<boolean> => {
    const right = meaningOf([leaf.entry.parent === undefined ? leaf.entry.name : rootName(leaf), ...argv.slice(1)], { table: original });
    const understood = concerned.filter(({ table }) => {
      const wrong = meaningOf([rootName(leaf), ...argv.slice(1)], { table });
      return wrong.isUnderstood && (isMutated || readingOf(wrong) !== readingOf(right));
    });
    for (const mutant of understood) {
      const its = state.get(mutant);
      if (its !== undefined) its.isUnderstood = true;
    }
    if (!isMutated && !right.isUnderstood && understood.length === 0) return false;
    const ran = await machine.run(argv, false);
    const facts = machine.facts(argv);
    const expected = right.isUnderstood ? predictionsOf(right, PROJECT) : [];
    const hasSucceeded = machine.hasSucceeded(ran, program);
    // What the right table leaves out as well is no merit of the mutant.
    const known = new Set((isMutated || !right.isUnderstood ? [] : unpredicted(ran.observed, expected, facts)).map(keyOf));
    for (const mutant of concerned) {
      const its = state.get(mutant);
      const wrong = meaningOf([rootName(leaf), ...argv.slice(1)], { table: mutant.table });
      if (its === undefined || (!isMutated && readingOf(wrong) === readingOf(right))) continue;
      const predicted = wrong.isUnderstood ? predictionsOf(wrong, PROJECT) : [];
      if (runsProject(expected) && (runsProject(predicted) || !wrong.isUnderstood)) {
        its.runsProject = true;
        continue;
      }
      its.isComparable = true;
      if (hasSucceeded) its.lines++;
      if (!wrong.isUnderstood) continue;
      const news = unpredicted(ran.observed, predicted, facts).filter((one) => !known.has(keyOf(one)));
      if (news.length > 0 || showsEnvironment(ran, predicted)) its.found = 'effect';
      if (!right.isUnderstood) its.isEquivalent = false;
      else if (its.isEquivalent && imaginable(expected, machine.files, facts).some((one) => isNews(one, expected, predicted, facts)))
        its.isEquivalent = false;
    }
    machine.restore(ran.observed);
    return hasSucceeded;
  };

  const ofOperands = mutants.filter(({ option }) => option === undefined);
  for (const needs of new Set(ofOperands.map((mutant) => mutant.needs))) {
    const own = ofOperands.filter((mutant) => mutant.needs === needs);
    const options = leaf.options.filter(({ first }) => needs?.includes(first));
    for (let index = 0; index < 16 && own.some((mutant) => state.get(mutant)?.found === 'no'); index++)
      await trace(line(leaf, options.length === 0 ? [] : [random.pick(options)], random, undefined).argv, ofOperands, false);
  }
  const byOption = new Map<Spelled, Mutant[]>();
  for (const mutant of mutants)
    if (mutant.option !== undefined) byOption.set(mutant.option, [...(byOption.get(mutant.option) ?? []), mutant]);
  const effectful = leaf.options.filter((option) => isEffectful(option) && !option.types.some((type) => type.startsWith('unclear:')));
  for (const [option, own] of byOption) {
    const isOpen = () => own.some((mutant) => state.get(mutant)?.found === 'no');
    for (let index = 0; index < LINES_EACH && isOpen(); index++) {
      const others = index > 2 && effectful.length > 0 ? [random.pick(effectful)] : [];
      await trace(line(leaf, [option, ...others], random, option.first).argv, [...own, ...ofOperands], false);
    }
    for (const mutant of own) if (state.get(mutant)?.found === 'no' && mutant.kind !== 'type') await follow(mutant, option);
  }
  return [...state].map(([mutant, known]) => ({ mutant: mutant.id, kind: mutant.kind, ...known }));

  /** Lines as the wrong table would have them: without the value that is needed, or with one that is not. */
  async function follow(mutant: Mutant, option: Spelled): Promise<void> {
    let succeeded = 0;
    for (let index = 0; index < 3; index++) {
      const spelling = random.pick(option.spellings);
      const operands = operandsFor(leaf.entry, new Set([option.first]), random);
      const argv = [...leaf.path, spelling, ...(mutant.kind === 'value' ? ['no-such-word'] : []), ...operands];
      if (await trace(argv, [mutant], true)) succeeded++;
      if (state.get(mutant)?.found === 'effect') return;
    }
    const known = state.get(mutant);
    if (succeeded === 0 && known !== undefined) known.found = 'failure';
  }
}

const keyOf = ({ kind, path }: Observed): string => `${kind} ${path}`;
const runsProject = (predicted: readonly Predicted[]): boolean => predicted.some(({ kind }) => kind === 'project');

const showsEnvironment = ({ output }: Ran, predicted: readonly Predicted[]): boolean =>
  output.includes(ENVIRONMENT_CANARY) && !predicted.some(({ kind }) => kind === 'environment' || kind === 'project');

/** How a table reads a line. */
const readingOf = (meaning: Meaning): string =>
  meaning.isUnderstood ? JSON.stringify(meaning.effects, (_, value) => (value instanceof Set ? [...value] : value)) : 'not understood';

/** What a command could do: with each file, program and host. */
function imaginable(predicted: readonly Predicted[], files: readonly string[], { existed }: Facts): Observed[] {
  const found = (kind: Observed['kind'], file: string): Observed => ({ kind, path: file, pid: 1, ancestors: [], call: '' });
  const named = predicted.flatMap((one) => ('effect' in one ? [one.path, one.written] : []));
  return [
    ...[...files, ...named.filter(existed)].flatMap((file) =>
      (['read', 'list', 'write', 'delete'] as const).map((kind) => found(kind, file)),
    ),
    ...named.map((file) => found('write', file)),
    ...predicted.flatMap((one) => (one.kind === 'run' ? [found('execute', `/usr/bin/${one.program}`)] : [])),
    ...predicted.flatMap((one) => (one.kind === 'connect' ? [found('connect', one.host ?? '127.0.0.9')] : [])),
  ];
}

/** The right table accounts for it, the wrong one does not. */
function isNews(one: Observed, right: readonly Predicted[], wrong: readonly Predicted[], facts: Facts): boolean {
  // git may look a tracked file up in its database, which all its commands read: nobody sees which file it was.
  const real = right.filter((other) => !('effect' in other && other.effect.isTracked && other.kind === 'read'));
  return !unpredicted([START, one], real, facts).includes(one) && unpredicted([START, one], wrong, facts).includes(one);
}

const START: Observed = { kind: 'look', path: '/proc', pid: 0, ancestors: [], call: '' };

function rootData(leaf: Leaf): Program {
  let { entry } = leaf;
  while (entry.parent !== undefined) entry = entry.parent;
  return entry.data as Program;
}

const rootName = (leaf: Leaf): string => rootData(leaf).name;
