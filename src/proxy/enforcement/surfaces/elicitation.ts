// elicitation/create: the link it opens, and the fields of its form. A person answers it anyway, so the policy only declines it or lets it pass.
import type { Place } from '../../../policy/actions/action.ts';
import { hostAction, toolAction } from '../../../policy/actions/surfaces.ts';
import { type EnforcementDeps, evaluate, type IncomingRequest, idOf, paramsOf, record, surfaceOf, textOf } from '../evaluate.ts';

const SECRET = /passw|secret|token|api.?key|credential|private.?key|passphrase/i;

export function elicitation(deps: EnforcementDeps, incoming: IncomingRequest): void {
  const { agent, frame, passOn } = incoming;
  const { url, requestedSchema } = paramsOf(incoming);
  const ask = (place: Place) => (url === undefined ? toolAction(place, 'elicit', 'form') : hostAction(place, 'elicit', String(url)));
  const evaluateNow = () => evaluate(deps, surfaceOf(incoming), textOf(incoming), ask);
  let evaluation = evaluateNow();
  // The protocol forbids it: the answers to a form pass through the agent, its model and its logs.
  const wantsSecret = asksForSecret(requestedSchema);
  const isDenied = evaluation.verdict === 'deny' || wantsSecret;
  if (deps.isObserving || !isDenied) {
    const isRecorded = record(deps, evaluation, 'passed', evaluation.by, isDenied ? 'deny' : evaluation.verdict);
    if (!isRecorded) evaluation = evaluateNow(); // the policy may deny what cannot be recorded
    if (deps.isObserving || evaluation.verdict !== 'deny') return void passOn(frame);
  }
  const why = wantsSecret ? 'a form must not ask for a secret' : evaluation.decision.why;
  record(deps, { ...evaluation, decision: { ...evaluation.decision, why } }, 'decline', 'policy', 'deny');
  deps.host.report(`a form or link of agent "${agent.name}" was declined: ${why}`);
  agent.succeed(idOf(incoming), '{"action":"decline"}');
}

function asksForSecret(schema: unknown): boolean {
  const { properties } = (schema ?? {}) as { properties?: unknown };
  if (typeof properties !== 'object' || properties === null) return false;
  return Object.entries(properties).some(([name, field]) => {
    const { title, format } = (field ?? {}) as { title?: unknown; format?: unknown };
    return SECRET.test(name) || format === 'password' || (typeof title === 'string' && SECRET.test(title));
  });
}
