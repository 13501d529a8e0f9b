// What an earlier switchboard could not end, or finish writing, because it was killed.
import { describeDaemons } from '../agents/daemons.ts';
import { removeDrafts } from '../agents/drafts.ts';
import { endLeftovers } from '../agents/leftovers.ts';
import type { Say } from './say-once.ts';

export function tidyUp(stateDir: string, onProblem: (error: unknown) => void, say: Say): void {
  removeDrafts(stateDir, onProblem);
  const { ended, daemons } = endLeftovers(stateDir, onProblem);
  if (ended > 0) say(`ended ${ended} agent process(es) that an earlier switchboard left behind`);
  if (daemons.length === 0) return;
  const { names, end } = describeDaemons(daemons);
  say(`these processes of earlier agents still run, in groups of their own: ${names}. They are not ended; to end them: ${end}`);
}
