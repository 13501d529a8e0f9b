// The verdict: the strictest matching rule wins, wherever it is, and an error is never an allow.
import type { Action } from './actions/action.ts';
import { isEvident, type Subject, subjectsOf } from './actions/subjects.ts';
import { EXECUTABLE_CONFIG } from './paths/executable-config.ts';
import { isInside } from './paths/path.ts';
import type { LayeredRule, LayerName, Policy } from './policy.ts';
import { isClear } from './rules/clear-effects.ts';
import { covers } from './rules/covers.ts';
import { deniedNames } from './rules/denied-names.ts';
import type { Permits } from './rules/effects-allowed.ts';
import { VERDICTS, type Verdict } from './rules/rule.ts';
import { indexOf } from './rules/rule-index.ts';
import { touches } from './rules/touches.ts';

export type MatchedRule = {
  readonly verdict: Verdict;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: LayerName;
  readonly reason: string | undefined;
  /** `execute!(…)`: what the command does was not evaluated. */
  readonly isTrusted?: true;
};

export type Decision = {
  readonly verdict: Verdict;
  /** The rule that decided; undefined if a default, a doubt or an error did. */
  readonly rule: MatchedRule | undefined;
  readonly layer: LayerName | undefined;
  /** One sentence for people. It names rules, never values. */
  readonly why: string;
  /** Every rule that matches, strictest first. Allow rules may cover only a part of the action. */
  readonly matches: readonly MatchedRule[];
  readonly opaque: readonly string[];
  /** An `ask` became a `deny` because nobody can answer. */
  readonly wasAsk: boolean;
};

/** Never throws. */
export function decide(policy: Policy, action: Action): Decision {
  let isInteractive = false;
  try {
    isInteractive = action.interactive;
    return settle(evaluateBelow(policy, action), isInteractive);
  } catch {
    return settle(
      { verdict: 'ask', rule: undefined, why: 'an error while the request was evaluated', matches: [], opaque: ['an error'] },
      isInteractive,
    );
  }
}

type Evaluation = Pick<Decision, 'verdict' | 'rule' | 'why' | 'matches' | 'opaque'>;

function settle(evaluation: Evaluation, isInteractive: boolean): Decision {
  const layer = evaluation.rule?.layer;
  if (evaluation.verdict !== 'ask' || isInteractive) return { ...evaluation, layer, wasAsk: false };
  return { ...evaluation, layer, verdict: 'deny', wasAsk: true, why: `${evaluation.why}; no user can be asked` };
}

/** Below the ceiling, if there is one: the stricter of both counts. */
function evaluateBelow(policy: Policy, action: Action): Evaluation {
  const found = evaluate(policy, action);
  if (policy.ceiling === undefined || found.verdict === 'deny') return found;
  const most = evaluate(policy.ceiling, action);
  const matches = [...found.matches, ...most.matches.filter(({ verdict }) => verdict === 'allow')];
  if (VERDICTS.indexOf(found.verdict) <= VERDICTS.indexOf(most.verdict)) return { ...found, matches };
  return { ...most, why: most.rule ? most.why : `${most.why}, in the policy bundle`, matches };
}

function evaluate(policy: Policy, action: Action): Evaluation {
  const { opaque } = action;
  if (action.isUnreadable)
    return { verdict: 'deny', rule: undefined, why: 'too long or nested too deeply to be evaluated', matches: [], opaque };
  const programs = action.commands.map(({ program }) => program);
  const strict = indexOf(policy.strict)
    .naming(programs)
    .filter(({ rule }) => touches(rule, action));
  const blocked = new Set<string>();
  const { isAllowed, used } = allowed(policy, action, (reason) => blocked.add(reason));
  const matches = [
    ...strict.filter(({ rule }) => rule.verdict === 'deny'),
    ...strict.filter(({ rule }) => rule.verdict === 'ask'),
    ...used,
  ].map(shown);
  const [first] = matches;

  if (first?.verdict === 'deny') return { verdict: 'deny', rule: first, why: ruleExplanation(first), matches, opaque };
  const asking =
    strict.find(({ rule, onlyTightens }) => rule.verdict === 'ask' && !onlyTightens) ??
    (policy.default === 'deny' && !(isAllowed && opaque.length === 0) ? undefined : strict[0]);
  if (asking !== undefined) return { verdict: 'ask', rule: shown(asking), why: ruleExplanation(shown(asking)), matches, opaque };

  const doubt = doubtOf(action, blocked);
  if (isAllowed && first !== undefined && opaque.length === 0)
    return { verdict: 'allow', rule: first, why: ruleExplanation(first), matches, opaque };
  const fallback = policy.default;
  if (fallback === 'deny')
    return { verdict: 'deny', rule: undefined, why: `no rule allows it${doubt}; the default is deny`, matches, opaque };
  const isDefinite =
    opaque.length === 0 &&
    subjectsOf(action).length > 0 &&
    subjectsOf(action).every(
      (subject) => isKnown(subject, action) && (!deniesAnything(policy) || isClearlyHarmless(subject, action, policy)),
    );
  if (fallback === 'allow' && isDefinite)
    return { verdict: 'allow', rule: undefined, why: 'no rule matches; the default is allow', matches, opaque };
  return { verdict: 'ask', rule: undefined, why: `no rule settles it${doubt}`, matches, opaque };
}

/** Something is denied: what is not understood could be just that. */
function deniesAnything({ strict }: Policy): boolean {
  return strict.some(
    ({ rule, layer }) => layer !== 'built-in' && (rule.commands ?? rule.paths ?? rule.hosts ?? rule.actions) !== undefined,
  );
}

/** Every word is understood, and nothing that the command does, also unasked, could be what a rule denies. */
function isClearlyHarmless(subject: Subject, action: Action, { strict }: Policy): boolean {
  if (subject.kind !== 'command') return true;
  const { meaning, operands, cwds } = subject.command;
  const rules = strict.filter(({ layer }) => layer !== 'built-in').map(({ rule }) => rule);
  return (
    isClear(meaning, { rules, cwds, action }) && operands.every((operand) => deniedNames(strict).reachedBy(operand, action) === undefined)
  );
}
/** A default that allows needs a definite subject: an action of unknown shape could be one that a rule denies. */
function isKnown(subject: Subject, action: Action): boolean {
  const isNothingElse = action.kind === 'think' || action.kind === 'mode' || action.kind === 'switch_mode' || action.kind === 'elicit';
  return isEvident(subject, action) && (subject.kind !== 'whole' || isNothingElse);
}

function allowed(policy: Policy, action: Action, blocked: (reason: string) => void) {
  const rules = policy.allow;
  const permits = permitsOf(policy, action);
  const used = new Set<LayeredRule>();
  const subjects = subjectsOf(action);
  let isAllowed = subjects.length > 0;
  for (const subject of subjects) {
    const candidates = subject.kind === 'command' ? indexOf(rules).naming([subject.command.program]) : indexOf(rules).others;
    const found = candidates.filter(({ rule }) => covers(rule, subject, action, permits, blocked));
    for (const rule of found) used.add(rule);
    if (found.length === 0 && !isHarmless(subject, action)) isAllowed = false;
  }
  return { isAllowed: isAllowed && used.size > 0, used: used.size === 0 ? [] : rules.filter((rule) => used.has(rule)) };
}

function permitsOf(policy: Policy, action: Action): Permits {
  const others = () => indexOf(policy.allow).others;
  const nothing = () => undefined;
  const permits: Permits = {
    path: (as, path) => others().some(({ rule }) => covers(rule, { kind: 'path', path, as }, action, permits, nothing)),
    config: (as, path) =>
      others().some(
        ({ rule }) =>
          rule.paths?.some(({ source }) => source === EXECUTABLE_CONFIG || !/[*?{[]/.test(source)) &&
          covers(rule, { kind: 'path', path, as }, action, permits, nothing),
      ),
    host: (host) => others().some(({ rule }) => covers(rule, { kind: 'host', host, as: 'fetch' }, action, permits, nothing)),
    denied: deniedNames(policy.strict),
  };
  return permits;
}

// `cd src && npm test`: changing to a directory inside the session's does nothing by itself, and what follows is evaluated where it runs.
function isHarmless(subject: Subject, action: Action): boolean {
  if (subject.kind !== 'command' || subject.command.argv[0] !== 'cd' || subject.command.evidence !== 'raw') return false;
  const { argv, operands, isLiteral } = subject.command;
  return isLiteral && argv.length === 2 && operands.length > 0 && operands.every(({ path }) => isInside(action.cwd, path));
}

function doubtOf(action: Action, blocked: ReadonlySet<string>): string {
  const [reason] = blocked;
  if (action.opaque.length > 0) return `, and it contains ${action.opaque[0]}`;
  if (reason !== undefined) return ` (${reason})`;
  return action.evidence === 'title' || action.evidence === 'none' ? ', and the agent gives too little detail to allow it' : '';
}

function ruleExplanation({ verdict, id, file, line, reason, isTrusted }: MatchedRule): string {
  return `${verdict} by rule ${id} (${file}:${line})${isTrusted ? ', which trusts it with any arguments' : ''}${reason === undefined ? '' : `: ${reason}`}`;
}

function shown({ rule: { verdict, id, file, line, reason, isTrusted }, layer }: LayeredRule): MatchedRule {
  return { verdict, id, file, line, layer, reason, ...(isTrusted && { isTrusted: true as const }) };
}
