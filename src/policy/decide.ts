// The verdict: the strictest matching rule wins, wherever it stands, and an error is never an allow.
import type { Action } from './actions/action.ts';
import { isEvident, type Subject, subjectsOf } from './actions/subjects.ts';
import { isInside } from './paths/path.ts';
import type { LayeredRule, LayerName, Policy } from './policy.ts';
import { covers } from './rules/covers.ts';
import type { Verdict } from './rules/rule.ts';
import { indexOf } from './rules/rule-index.ts';
import { touches } from './rules/touches.ts';

export type MatchedRule = {
  readonly verdict: Verdict;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: LayerName;
  readonly reason: string | undefined;
};

export type Decision = {
  readonly verdict: Verdict;
  /** The rule that decided; undefined when a default, a doubt or an error did. */
  readonly rule: MatchedRule | undefined;
  readonly layer: LayerName | undefined;
  /** One sentence for people; names rules, never values. */
  readonly why: string;
  /** Every rule that has to do with the request, strictest first; those that allow may cover only a part of it. */
  readonly matches: readonly MatchedRule[];
  readonly opaque: readonly string[];
  /** `ask` that nobody can answer is `deny`; this says that it was one. */
  readonly wasAsk: boolean;
};

/** Never throws. */
export function decide(policy: Policy, asked: Action): Decision {
  let isInteractive = false;
  try {
    isInteractive = asked.interactive;
    return settle(judge(policy, asked), isInteractive);
  } catch {
    return settle(
      { verdict: 'ask', rule: undefined, why: 'the request could not be judged', matches: [], opaque: ['an error'] },
      isInteractive,
    );
  }
}

type Judgement = Pick<Decision, 'verdict' | 'rule' | 'why' | 'matches' | 'opaque'>;

function settle(judgement: Judgement, isInteractive: boolean): Decision {
  const layer = judgement.rule?.layer;
  if (judgement.verdict !== 'ask' || isInteractive) return { ...judgement, layer, wasAsk: false };
  return { ...judgement, layer, verdict: 'deny', wasAsk: true, why: `${judgement.why}; nobody can be asked` };
}

function judge(policy: Policy, asked: Action): Judgement {
  const { opaque } = asked;
  if (asked.isUnreadable)
    return { verdict: 'deny', rule: undefined, why: 'too long or nested too deeply to be judged', matches: [], opaque };
  const programs = asked.commands.map(({ program }) => program);
  const strict = indexOf(policy.strict)
    .naming(programs)
    .filter(({ rule }) => touches(rule, asked));
  const floored = new Set<string>();
  const { isAllowed, used } = allowed(policy.allow, asked, (reason) => floored.add(reason));
  const matches = [
    ...strict.filter(({ rule }) => rule.verdict === 'deny'),
    ...strict.filter(({ rule }) => rule.verdict === 'ask'),
    ...used,
  ].map(shown);
  const [first] = matches;

  if (first?.verdict === 'deny') return { verdict: 'deny', rule: first, why: said(first), matches, opaque };
  const asking =
    strict.find(({ rule, onlyTightens }) => rule.verdict === 'ask' && !onlyTightens) ??
    (policy.default === 'deny' && !(isAllowed && opaque.length === 0) ? undefined : strict[0]);
  if (asking !== undefined) return { verdict: 'ask', rule: shown(asking), why: said(shown(asking)), matches, opaque };

  const doubt = doubtOf(asked, floored);
  if (isAllowed && first !== undefined && opaque.length === 0) return { verdict: 'allow', rule: first, why: said(first), matches, opaque };
  const fallback = policy.default;
  if (fallback === 'deny')
    return { verdict: 'deny', rule: undefined, why: `no rule allows it${doubt}; the default is deny`, matches, opaque };
  const isClear = opaque.length === 0 && subjectsOf(asked).length > 0 && subjectsOf(asked).every((subject) => isKnown(subject, asked));
  if (fallback === 'allow' && isClear)
    return { verdict: 'allow', rule: undefined, why: 'no rule matches; the default is allow', matches, opaque };
  return { verdict: 'ask', rule: undefined, why: `no rule settles it${doubt}`, matches, opaque };
}

/** For a default that allows: something definite must be known of it. A request of an unknown shape could be what a rule denies. */
function isKnown(subject: Subject, asked: Action): boolean {
  const isNothingElse = asked.action === 'think' || asked.action === 'mode' || asked.action === 'switch_mode' || asked.action === 'elicit';
  return isEvident(subject, asked) && (subject.kind !== 'whole' || isNothingElse);
}

function allowed(rules: readonly LayeredRule[], asked: Action, floored: (reason: string) => void) {
  const used = new Set<LayeredRule>();
  const subjects = subjectsOf(asked);
  let isAllowed = subjects.length > 0;
  for (const subject of subjects) {
    const candidates = subject.kind === 'command' ? indexOf(rules).naming([subject.command.program]) : indexOf(rules).others;
    const found = candidates.filter(({ rule }) => covers(rule, subject, asked, floored));
    for (const rule of found) used.add(rule);
    if (found.length === 0 && !isHarmless(subject, asked)) isAllowed = false;
  }
  return { isAllowed: isAllowed && used.size > 0, used: used.size === 0 ? [] : rules.filter((rule) => used.has(rule)) };
}

// `cd src && npm test`: moving about inside the session's directory does nothing by itself, and what follows is judged where it runs.
function isHarmless(subject: Subject, asked: Action): boolean {
  if (subject.kind !== 'command' || subject.command.argv[0] !== 'cd' || subject.command.evidence !== 'raw') return false;
  const { argv, operands, isLiteral } = subject.command;
  return isLiteral && argv.length === 2 && operands.length > 0 && operands.every(({ path }) => isInside(asked.cwd, path));
}

function doubtOf(asked: Action, floored: ReadonlySet<string>): string {
  const [reason] = floored;
  if (asked.opaque.length > 0) return `, and it holds ${asked.opaque[0]}`;
  if (reason !== undefined) return ` (${reason})`;
  return asked.evidence === 'title' || asked.evidence === 'none' ? ', and what the agent tells is not enough to allow anything' : '';
}

function said({ verdict, id, file, line, reason }: MatchedRule): string {
  return `${verdict} by rule ${id} (${file}:${line})${reason === undefined ? '' : `: ${reason}`}`;
}

function shown({ rule: { verdict, id, file, line, reason }, layer }: LayeredRule): MatchedRule {
  return { verdict, id, file, line, layer, reason };
}
