// An action from request to audit line: the action itself, the decision of the policy or of a remembered answer, and the line, which is written
// before the outcome takes effect.
import type { Asking as AgentAsking } from '../../agents/asking.ts';
import type { Audit, Written } from '../../audit/audit.ts';
import type { AnsweredBy, AuditOutcome } from '../../audit/audit-line.ts';
import { fields } from '../../json-object.ts';
import { here } from '../../platform/platform.ts';
import type { Action, Place } from '../../policy/actions/action.ts';
import { familyOf } from '../../policy/actions/agent-tools.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { toolAction } from '../../policy/actions/surfaces.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Verdict } from '../../policy/rules/rule.ts';
import type { RememberedAnswer, RememberedAnswers } from '../../store/remembered-answers.ts';
import type { Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Agent } from '../agents/agent.ts';
import type { Session } from '../sessions/session.ts';
import type { EnforcementHost, PassOn } from './enforcement.ts';
import { stateOf } from './enforcement-state.ts';

/** The policy, which may be replaced at any time, the places to write to, and the file system's view of a path. */
export type EnforcementDeps = {
  readonly current: () => CurrentPolicy;
  /** Blocks nothing, and records what would have been blocked. */
  readonly isObserving: boolean;
  /** Whether a user can be asked; if not, ask means deny. */
  readonly isInteractive: boolean;
  readonly audit: Pick<Audit, 'record'>;
  readonly remembered: RememberedAnswers;
  readonly canonical: (path: string) => string;
  readonly findBelow?: Place['findBelow'];
  readonly home: string | undefined;
  /** What the catalogue knows of an agent. */
  readonly askingOf?: ((agent: Agent) => AgentAsking | undefined) | undefined;
  /** Counts the time of evaluations in this turn of the event loop. */
  readonly startWork: () => void;
  /** The proxy that the enforcement belongs to. */
  readonly host: EnforcementHost;
};

/** The policy from the files, and the same with the user's remembered answers. */
export type CurrentPolicy = {
  readonly policy: Policy;
  readonly hash: string;
  /** The version of the policy bundle above the files. */
  readonly bundle?: number | undefined;
  readonly withAnswers: (answers: readonly RememberedAnswer[]) => Policy;
};

export type Evaluation = {
  readonly agent: Agent;
  readonly session: Session | undefined;
  readonly surface: string;
  readonly action: Action;
  readonly decision: Decision;
  readonly verdict: Verdict;
  readonly by: AnsweredBy;
  /** The original bytes. */
  readonly request: Buffer | string;
  readonly policyHash: string;
  readonly bundle: number | undefined;
  readonly sinceMs: number;
};

/** For an action that waits for an answer: releases the chunk that the request came in. */
export function detached(evaluation: Evaluation): Evaluation {
  return { ...evaluation, request: Buffer.from(evaluation.request) };
}

export type About = { readonly agent: Agent; readonly session: Session | undefined; readonly surface: string };

export function evaluate(deps: EnforcementDeps, about: About, request: Buffer | string, ask: (place: Place) => Action): Evaluation {
  deps.startWork();
  const { hash, bundle, withAnswers } = deps.current();
  const sinceMs = deps.host.clock.monotonicMs();
  const action = ask(placeFor(deps, about));
  const answers = deps.remembered.answersFor({ cwd: action.cwd, session: action.session, policy: hash });
  const decision = decide(withAnswers(answers), action);
  const by = decision.layer === 'remembered' ? 'memory' : 'policy';
  return { ...about, action, decision, verdict: decision.verdict, by, request, policyHash: hash, bundle, sinceMs };
}

/** For a session whose directory is unknown: no path lies there, so no rule about `$cwd` matches. */
export const UNKNOWN_CWD = '/dev/null/nowhere';

export function placeFor(deps: EnforcementDeps, { agent, session }: About): Place {
  const { agentInfo } = agent.handshake?.result ?? {};
  return {
    agent: agent.name,
    family: familyOf(agent.name, agentInfo?.name, agent.spec.command),
    session: session?.publicId,
    cwd: (session && stateOf(session).root(session.cwd, deps.canonical)) ?? UNKNOWN_CWD,
    home: deps.home,
    interactive: deps.isInteractive,
    canonical: deps.canonical,
    findBelow: deps.findBelow,
    shell: here.shell,
  };
}

/** A request that cannot be read well enough to be evaluated. */
export function recordUnread(deps: EnforcementDeps, about: About, request: Buffer | string, why: string): void {
  const evaluation = evaluate(deps, about, request, (place) => toolAction(place, 'other', 'unread'));
  record(
    deps,
    { ...evaluation, decision: { ...evaluation.decision, why, rule: undefined } },
    deps.isObserving ? 'passed' : 'refused',
    'policy',
    'deny',
  );
}

/** The user consents, but the policy denies it by now. */
export function recordLate(deps: EnforcementDeps, evaluation: Evaluation, why: string): void {
  record(deps, { ...evaluation, decision: { ...evaluation.decision, why } }, 'refused', 'policy', 'deny');
}

/** Writes the audit line; false when that fails: then nothing may be allowed without asking. */
export function record(
  deps: EnforcementDeps,
  evaluation: Evaluation,
  option: string,
  by: AnsweredBy = evaluation.by,
  verdict: Verdict = evaluation.verdict,
): boolean {
  return write(deps, evaluation, { option, by, verdict }).isWritten;
}

/** The surface of actions that the agent took without asking: nothing prevents them any more. */
export const OBSERVED = 'tool_call';

type Outcome = {
  readonly option: string;
  readonly by: AnsweredBy;
  readonly verdict: Verdict;
  readonly answerIn?: number;
  /** The kind of the option that the user chose. */
  readonly answer?: string | undefined;
  /** For one line about several actions. */
  readonly summary?: string;
  readonly count?: number;
};

/** What became of the action. */
function outcomeOf(isObserving: boolean, surface: string, { by, verdict, answer, answerIn }: Outcome): AuditOutcome {
  if (surface === OBSERVED && verdict === 'ask') return 'unasked';
  if (verdict !== 'allow' && (isObserving || surface === OBSERVED)) return 'noticed';
  if (by === 'agent') return 'withdrawn';
  if (by !== 'user' && by !== 'approve') return verdict === 'allow' ? 'allowed' : 'prevented';
  if (answerIn !== undefined || answer?.startsWith('allow')) return 'allowed';
  return answer === undefined ? 'withdrawn' : 'prevented';
}

/** The same, and returns the number of the line. */
export function write(deps: EnforcementDeps, evaluation: Evaluation, outcome: Outcome): Written {
  const { option, by, verdict, answerIn, answer, summary, count } = outcome;
  const { agent, session, surface, action, decision, request, policyHash, bundle, sinceMs } = evaluation;
  if (session?.enforcement && session.enforcement.reports.unrecorded.length > 0) recordUnasked(deps, session);
  return deps.audit.record({
    agent: agent.name,
    session: session?.publicId,
    method: surface,
    request,
    summary: summary ?? summaryOf(action),
    count,
    evidence: action.evidence,
    verdict,
    why: decision.why,
    rule: decision.rule,
    layer: decision.layer,
    answeredBy: by,
    outcome: outcomeOf(deps.isObserving, surface, outcome),
    answer,
    answerIn,
    option,
    latencyMs: Math.max(0, deps.host.clock.monotonicMs() - sinceMs),
    policyHash,
    bundle,
    mode: deps.isObserving ? 'observe' : 'enforce',
  });
}

const MAX_NAMED = 10;

export function namesOf(actions: readonly Evaluation[]): string {
  const all = [...new Set(actions.map(({ action }) => summaryOf(action)))];
  const more = all.length - MAX_NAMED;
  return `${all.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** One line for all unasked actions in a row. It comes before any other line about the session: the log keeps the order of what happened. */
export function recordUnasked(deps: EnforcementDeps, session: Session): void {
  const { reports } = stateOf(session);
  const { unrecorded } = reports;
  const [first] = unrecorded;
  if (!first) return;
  reports.unrecorded = [];
  const request = unrecorded.map(({ request: text }) => String(text)).join('\n');
  const many = unrecorded.length > 1 ? { summary: namesOf(unrecorded), count: unrecorded.length } : {};
  write(deps, { ...first, request }, { option: 'notify', by: first.by, verdict: 'ask', ...many });
}

/** The sender is unknown: every program of the machine can connect. */
export function recordRefusedToken(deps: EnforcementDeps, why: string): void {
  const { hash: policyHash, bundle } = deps.current();
  deps.audit.record({
    ...{ agent: 'unknown', method: 'mcp', request: '', summary: 'mcp: a connection', evidence: 'raw', verdict: 'deny', why },
    ...{ answeredBy: 'policy', outcome: 'prevented', option: 'refused', latencyMs: 0, policyHash, bundle, mode: 'enforce' },
  });
}

/** A request from an agent that the policy covers. */
export type IncomingRequest = {
  readonly agent: Agent;
  readonly session: Session | undefined;
  readonly frame: Frame;
  /** Its `params`, read; what parsers read differently never gets here. */
  readonly params: unknown;
  readonly passOn: PassOn;
};

export type Params = Readonly<Record<string, unknown>>;

export const paramsOf = ({ params }: IncomingRequest): Params => fields(params);

export const surfaceOf = ({ agent, session, frame }: IncomingRequest) => ({ agent, session, surface: frame.method as string });

/** The request as it came, for the record. */
export const textOf = ({ frame }: IncomingRequest): Buffer => frame.bytes.subarray(frame.start, frame.end);

export const idOf = ({ frame }: IncomingRequest): string => idTextOf(frame);
