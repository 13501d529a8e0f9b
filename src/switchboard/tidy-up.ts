// What an earlier switchboard could not end because it was killed.
import { endLeftovers } from '../agents/leftovers.ts';
import type { Say } from './say-once.ts';

export function tidyUp(stateDir: string, onProblem: (error: unknown) => void, say: Say): void {
  const { ended, escaped } = endLeftovers(stateDir, onProblem);
  if (ended > 0) say(`ended ${ended} agent process(es) that an earlier switchboard left behind`);
  if (escaped.length > 0) say(`these processes of earlier agents still run, in groups of their own: ${escaped.join(', ')}`);
}
