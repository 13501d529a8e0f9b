// What went by without an answer or a reader; kept so that nothing disappears unseen.

export type Counters = { strayAnswers: number; refusedFromAgents: number; refusedFromClient: number; lateUpdates: number; unsaid: number };

const WORDS: Readonly<Record<keyof Counters, string>> = {
  strayAnswers: 'answers that nobody waited for',
  refusedFromAgents: 'lines of agents that were refused',
  refusedFromClient: 'lines of the editor that were refused',
  lateUpdates: 'updates that nobody asked to see any more',
  unsaid: 'notifications that their agent could not be told',
};

export const noCounts = (): Counters => ({ strayAnswers: 0, refusedFromAgents: 0, refusedFromClient: 0, lateUpdates: 0, unsaid: 0 });

/** In one line; undefined when everything has reached somebody. */
export function saidOfCounts(counters: Counters): string | undefined {
  const said = (Object.keys(WORDS) as (keyof Counters)[]).flatMap((key) => (counters[key] > 0 ? [`${counters[key]} ${WORDS[key]}`] : []));
  return said.length === 0 ? undefined : `not passed on in this connection: ${said.join(', ')}`;
}
