// Connections of contained agents. The sandbox's forward proxy holds each one until it is decided here.
import { isIP } from 'node:net';
import { hostAction } from '../../../policy/actions/surfaces.ts';
import type { Rule } from '../../../policy/rules/rule.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Session } from '../../sessions/session.ts';
import { askAboutCall } from '../ask-user.ts';
import { type EnforcementDeps, evaluate, record } from '../evaluate.ts';
import { NOT_AUDITED } from './host-tools.ts';

export type Connecting = {
  readonly host: string;
  readonly port: number;
  /** The configuration or the catalogue names the host: the agent cannot work without it. */
  readonly isListed: boolean;
};

/** Undefined: allowed. Otherwise the reason. Without a session nobody can be asked. */
export async function networkConnection(
  deps: EnforcementDeps,
  agent: Agent,
  session: Session | undefined,
  { host, port, isListed }: Connecting,
  signal: AbortSignal,
): Promise<string | undefined> {
  const about = { agent, session, surface: 'network' };
  const evaluateNow = () =>
    evaluate(deps, about, JSON.stringify({ host, port }), (place) => hostAction(place, 'fetch', isIP(host) === 6 ? `[${host}]` : host));
  const evaluation = evaluateNow();
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    return undefined;
  }
  // Listed hosts are refused only by a rule that names them.
  const { rule } = evaluation.decision;
  const namesHost = ({ id, file, hosts }: Rule) => hosts !== undefined && id === rule?.id && file === rule.file;
  const isNamed = evaluation.verdict === 'deny' && deps.current().policy.strict.some((one) => namesHost(one.rule));
  if (evaluation.verdict === 'allow' || (isListed && !isNamed))
    return record(deps, evaluation, 'passed', evaluation.by, 'allow') ? undefined : NOT_AUDITED;
  if (evaluation.verdict === 'deny' || session === undefined) {
    record(deps, evaluation, 'refused', evaluation.by, 'deny');
    return `denied by policy: ${evaluation.decision.why}`;
  }
  const shown = { title: `Connect to ${host}:${port}`, kind: 'fetch', rawInput: { host, port } };
  const answer = await askAboutCall(deps, { evaluation, session, shown, evaluateAgain: evaluateNow, signal, allowed: { allow: true } });
  return answer.allow ? undefined : answer.reason;
}
