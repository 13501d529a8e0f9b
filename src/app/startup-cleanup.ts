// What an earlier switchboard could not end, or finish writing, because it was killed; and what many have left in the list of sessions.
import { describeDaemons } from '../agents/daemons.ts';
import { endLeftovers, removeDrafts } from '../agents/leftovers.ts';
import { COMPACT_FROM_BYTES } from '../store/defaults.ts';
import { isCompactionDue } from '../store/sessions/session-store.ts';
import type { Say } from './events.ts';

export function tidyUp(stateDir: string, onProblem: (error: unknown) => void, say: Say): void {
  removeDrafts(stateDir, onProblem);
  compactSessions(stateDir).catch((error: Error) => say(`the list of sessions stays as long as it is: ${error.message}`));
  const { ended, daemons } = endLeftovers(stateDir, onProblem);
  if (ended > 0) say(`ended ${ended} agent process(es) that an earlier switchboard left behind`);
  if (daemons.length === 0) return;
  const { names, end } = describeDaemons(daemons);
  say(`these processes of earlier agents still run, in groups of their own: ${names}. They are not ended; to end them: ${end}`);
}

/** Windows cannot replace an open file. */
async function compactSessions(stateDir: string): Promise<void> {
  if (process.platform === 'win32') return;
  if (!isCompactionDue(stateDir, COMPACT_FROM_BYTES)) return; // nearly always: spare the start from loading the code for it
  const { compactSessionLog } = await import('../store/sessions/compact.ts');
  await compactSessionLog(stateDir);
}
