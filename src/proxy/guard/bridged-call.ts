// Calls of tools of the editor's own servers that go through a bridge of ours: known by name and arguments, like those of servers in the editor itself.
import { randomUUID } from 'node:crypto';
import type { GateVerdict } from '../../mcp/gate.ts';
import { askedMcp } from '../../policy/surfaces.ts';
import type { BridgedCall } from '../guard.ts';
import type { Hub } from '../hub.ts';
import type { Session } from '../session.ts';
import { titleOf } from '../tool-gate.ts';
import { askEditor } from './ask-editor.ts';
import { type GuardDeps, judge, record } from './judge.ts';
import { NOT_WRITTEN } from './lent-call.ts';

export async function bridgedCall(deps: GuardDeps, hub: Hub, session: Session, call: BridgedCall): Promise<GateVerdict> {
  const about = { hub, leg: session.leg, session, surface: 'tools/call' };
  const matter = judge(deps, about, JSON.stringify(call), (place) => askedMcp(place, call));
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
  return new Promise((resolve) => {
    askEditor(deps, matter, session, JSON.stringify(`bridged-${randomUUID()}`), shown, (reply) =>
      resolve(reply === 'allowed' ? { allow: true } : { allow: false, reason: 'the user did not allow it' }),
    );
  });
}
