// Summaries of how a change fits its file.
import type { HunkState } from '../../../src/console/protocol/chat.ts';

const count = (states: readonly HunkState[], wanted: HunkState['state']): number => states.filter(({ state }) => state === wanted).length;
const hunks = (some: number): string => `${some} ${some === 1 ? 'hunk' : 'hunks'}`;

export const openIn = (states: readonly HunkState[]): number => count(states, 'open');

/** What is applied and what is left; empty when everything can be applied. */
export function standingOf(states: readonly HunkState[]): string {
  const [there, open, conflicts] = [count(states, 'applied'), openIn(states), count(states, 'conflict')];
  if (open === states.length) return '';
  if (there === states.length) return 'The file already has all of it.';
  if (conflicts === states.length) return states.length === 1 ? 'It conflicts with the file.' : 'All of it conflicts with the file.';
  const parts = [
    there > 0 && `The file has ${there} of ${hunks(states.length)}`,
    open > 0 && (there > 0 ? `${open} can still be applied` : `${open} of ${hunks(states.length)} can be applied`),
    conflicts > 0 && `${conflicts} ${conflicts === 1 ? 'is' : 'are'} in conflict`,
  ];
  return `${parts.filter(Boolean).join('; ')}.`;
}

/** The label of the button that applies the chosen hunks. */
export function applySummary(states: readonly HunkState[], chosen: number): string {
  const open = openIn(states);
  if (states.length === 1) return 'Apply';
  return chosen === open ? `Apply ${hunks(open)}` : `Apply ${chosen} of ${hunks(open)}`;
}
