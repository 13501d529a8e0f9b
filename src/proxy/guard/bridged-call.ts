// Calls of tools of the editor's own servers that go through a bridge of ours: known by name and arguments, like those of servers in the editor itself.
import { randomUUID } from 'node:crypto';
import type { GateVerdict } from '../../mcp/gate.ts';
import { askedMcp } from '../../policy/surfaces.ts';
import type { BridgedCall } from '../guard.ts';
import type { Hub } from '../hub.ts';
import type { Session } from '../session.ts';
import { titleOf } from '../tool-gate.ts';
import { askEditor } from './ask-editor.ts';
import { type GuardDeps, judge, record, recordLate } from './judge.ts';
import { NOT_WRITTEN } from './lent-call.ts';

export async function bridgedCall(deps: GuardDeps, hub: Hub, session: Session, call: BridgedCall): Promise<GateVerdict> {
  const about = { hub, leg: session.leg, session, surface: 'tools/call' };
  const look = () => judge(deps, about, JSON.stringify(call), (place) => askedMcp(place, call));
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
  return new Promise((resolve) => {
    askEditor(deps, matter, session, JSON.stringify(`bridged-${randomUUID()}`), shown, (reply) => {
      if (reply !== 'allowed') return resolve({ allow: false, reason: 'the user did not allow it' });
      // While the user thought, the policy may have changed.
      const now = look();
      if (now.verdict !== 'deny') return resolve({ allow: true });
      recordLate(deps, now, now.decision.why);
      resolve({ allow: false, reason: `denied by policy: ${now.decision.why}` });
    });
  });
}
