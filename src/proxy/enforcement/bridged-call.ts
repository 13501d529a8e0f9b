// Calls of tools of the editor's own servers that go through a bridge of ours: known by name and arguments, like those of servers in the editor itself.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import { mcpAction } from '../../policy/actions/surfaces.ts';
import type { Hub } from '../hub.ts';
import type { Session } from '../sessions/session.ts';
import { titleOf } from '../tools/tool-gate.ts';
import { askAboutCall } from './ask-about-call.ts';
import type { BridgedCall } from './enforcement.ts';
import { type GuardDeps, judge, record } from './evaluate.ts';
import { NOT_WRITTEN } from './tool-calls.ts';

export async function bridgedCall(
  deps: GuardDeps,
  hub: Hub,
  session: Session,
  call: BridgedCall,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const about = { hub, leg: session.leg, session, surface: 'tools/call' };
  const look = () => judge(deps, about, JSON.stringify(call), (place) => mcpAction(place, call));
  const matter = look();
  if (deps.isObserving) {
    record(deps, matter, 'passed');
    return { allow: true };
  }
  // What no rule speaks of goes as it would without the bridge: it is the editor that brought the server, and the agent that asks for its own calls.
  const isLeftOpen = matter.verdict === 'ask' && matter.decision.rule === undefined;
  if (matter.verdict === 'allow' || isLeftOpen) return record(deps, matter, 'passed') ? { allow: true } : NOT_WRITTEN;
  if (matter.verdict === 'deny') {
    record(deps, matter, 'refused');
    return { allow: false, reason: `denied by policy: ${matter.decision.why}` };
  }
  const shown = { title: titleOf(call), kind: 'other', rawInput: call };
  return askAboutCall(deps, { matter, session, shown, look, signal, allowed: { allow: true } });
}
