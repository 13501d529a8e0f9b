// What kept a page busy: the tasks of its main thread, from the browser's own trace.
import type { Page } from 'playwright-core';

/** `parts`: what it consisted of, if it is worth a look. */
export type Task = { readonly ms: number; readonly parts: readonly string[] };

type TraceEvent = {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

const MAIN_THREAD = 'CrRendererMain';
const TASK = /(?:^|::)RunTask$/;
const PART_MS = 2;

/**
 * The tasks while `act` runs. Their time is the CPU time of the page's thread, not the time on the clock: on a busy machine the thread also
 * waits for a core, which says nothing about the page.
 */
export async function tasksDuring(page: Page, longMs: number, act: () => Promise<unknown>): Promise<readonly Task[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser of its own');
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: readonly TraceEvent[] };
  const place = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const threads = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === MAIN_THREAD).map(place));
  const events = traceEvents.filter((event) => event.ph === 'X' && threads.has(place(event)));
  // Tasks of a few microseconds have no CPU time.
  const ms = ({ dur = Number.NaN, tdur = dur }: TraceEvent) => tdur / 1000;
  const partsOf = (task: TraceEvent) =>
    events
      .filter((event) => event !== task && place(event) === place(task) && event.ts >= task.ts && event.ts <= task.ts + (task.dur ?? 0))
      .filter((event) => ms(event) > PART_MS)
      .map((event) => `${event.name} ${Math.round(ms(event))}`);
  return events.filter(({ name }) => TASK.test(name)).map((task) => ({ ms: ms(task), parts: ms(task) > longMs ? partsOf(task) : [] }));
}
