// elicitation/create: the link it opens, and the fields of its form. A person answers it anyway, so the policy only declines it or lets it pass.
import type { Place } from '../../../policy/actions/action.ts';
import { hostAction, toolAction } from '../../../policy/actions/surfaces.ts';
import { type Asking, type EnforcementDeps, evaluate, idOf, paramsOf, record, surfaceOf, textOf } from '../evaluate.ts';

const SECRET = /passw|secret|token|api.?key|credential|private.?key|passphrase/i;

export function elicitation(deps: EnforcementDeps, asking: Asking): void {
  const { agent, frame, passOn } = asking;
  const { url, requestedSchema } = paramsOf(asking);
  const ask = (place: Place) => (url === undefined ? toolAction(place, 'elicit', 'form') : hostAction(place, 'elicit', String(url)));
  const look = () => evaluate(deps, surfaceOf(asking), textOf(asking), ask);
  let action = look();
  // The protocol forbids it: the answers to a form pass through the agent, its model and its logs.
  const wantsSecret = asksForSecret(requestedSchema);
  const isDenied = action.verdict === 'deny' || wantsSecret;
  if (deps.isObserving || !isDenied) {
    const isRecorded = record(deps, action, 'passed', action.by, isDenied ? 'deny' : action.verdict);
    if (!isRecorded) action = look(); // the policy may deny what cannot be recorded
    if (deps.isObserving || action.verdict !== 'deny') return void passOn(frame);
  }
  const why = wantsSecret ? 'a form must not ask for a secret' : action.decision.why;
  record(deps, { ...action, decision: { ...action.decision, why } }, 'decline', 'policy', 'deny');
  deps.host.report(`a form or link of agent "${agent.name}" was declined: ${why}`);
  agent.succeed(idOf(asking), '{"action":"decline"}');
}

function asksForSecret(schema: unknown): boolean {
  const { properties } = (schema ?? {}) as { properties?: unknown };
  if (typeof properties !== 'object' || properties === null) return false;
  return Object.entries(properties).some(([name, field]) => {
    const { title, format } = (field ?? {}) as { title?: unknown; format?: unknown };
    return SECRET.test(name) || format === 'password' || (typeof title === 'string' && SECRET.test(title));
  });
}
