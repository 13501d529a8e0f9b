// Calls of tools of the editor's own servers that go through a bridge of ours: known by name and arguments, like those of servers in the editor itself.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import { mcpAction } from '../../policy/actions/surfaces.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { titleOf } from '../tools/tool-gate.ts';
import { askAboutCall } from './ask-about-call.ts';
import type { BridgedCall } from './enforcement.ts';
import { type EnforcementDeps, evaluate, record } from './evaluate.ts';
import { NOT_WRITTEN } from './tool-calls.ts';

export async function bridgedCall(
  deps: EnforcementDeps,
  proxy: ProxyParts,
  session: Session,
  call: BridgedCall,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const about = { proxy, agent: session.agent, session, surface: 'tools/call' };
  const look = () => evaluate(deps, about, JSON.stringify(call), (place) => mcpAction(place, call));
  const action = look();
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return { allow: true };
  }
  // What no rule speaks of goes as it would without the bridge: it is the editor that brought the server, and the agent that asks for its own calls.
  const isLeftOpen = action.verdict === 'ask' && action.decision.rule === undefined;
  if (action.verdict === 'allow' || isLeftOpen) return record(deps, action, 'passed') ? { allow: true } : NOT_WRITTEN;
  if (action.verdict === 'deny') {
    record(deps, action, 'refused');
    return { allow: false, reason: `denied by policy: ${action.decision.why}` };
  }
  const shown = { title: titleOf(call), kind: 'other', rawInput: call };
  return askAboutCall(deps, { action, session, shown, look, signal, allowed: { allow: true } });
}
