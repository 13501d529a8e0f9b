// Cleans up after switchboards that were killed: their agents, their half-written files, and sessions.jsonl if it has grown.
import { describeDaemons } from '../agents/daemons.ts';
import { endLeftovers, removeDrafts } from '../agents/leftovers.ts';
import { here } from '../platform/platform.ts';
import { COMPACT_FROM_BYTES } from '../store/defaults.ts';
import { isCompactionDue } from '../store/sessions/session-store.ts';
import type { Notify } from './events.ts';

export function cleanUp(stateDir: string, onProblem: (error: unknown) => void, notify: Notify): void {
  removeDrafts(stateDir, onProblem);
  compactSessions(stateDir).catch((error: Error) => notify(`sessions.jsonl could not be compacted: ${error.message}`));
  const { ended, daemons } = endLeftovers(stateDir, onProblem);
  if (ended > 0) notify(`stopped ${ended} agent process(es) that an earlier switchboard left behind`);
  if (daemons.length === 0) return;
  const { names, end } = describeDaemons(daemons);
  notify(
    `these processes of earlier agents are still running in their own process groups: ${names}. Switchboard does not stop them; to stop them, run: ${end}`,
  );
}

async function compactSessions(stateDir: string): Promise<void> {
  if (!here.replacesOpenFiles) return;
  if (!isCompactionDue(stateDir, COMPACT_FROM_BYTES)) return; // nearly always: spare the start from loading the code for it
  const { compactSessionLog } = await import('../store/sessions/compact.ts');
  await compactSessionLog(stateDir);
}
