// A history from its first event to its end: random events, then until everybody has sent what they owe, then the stop.
import { CHUNK_BYTES } from './pipe.ts';
import type { Run } from './sim-agent.ts';
import { SILENT_MS } from './sim-process.ts';
import { createWorld, type World } from './world.ts';

export type Report = {
  readonly seed: number;
  readonly events: number;
  readonly frames: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
  /** undefined when all checks passed. */
  readonly problem: string | undefined;
};

export async function runHistory(seed: number): Promise<Report> {
  const world = createWorld(seed);
  let problem: string | undefined;
  try {
    await world.cluster?.begun;
    const isWhole = await live(world);
    if (isWhole) await drain(world);
    await end(world);
  } catch (error) {
    problem = (error as Error).message.startsWith('  ') ? (error as Error).message : String((error as Error).stack ?? error);
  }
  const { events, trace, sim } = world;
  const frames = sim.ledger.agentFrames.length + sim.ledger.clientFrames.length;
  return { seed, events, frames, faults: sim.faults.counts, trace, problem };
}

/** Random events; false when the client disconnects in the middle. */
async function live(world: World): Promise<boolean> {
  const { random, faults } = world.sim;
  // On a bus, time passes in small steps, and leases take long to end.
  for (let left = random.int(80, 280) * (world.cluster ? 2 : 1); left > 0; left--) {
    if (faults.happens('client: goes at once')) return false;
    await world.event(() => something(world));
  }
  return true;
}

function something(world: World): void {
  const { sim, client, clientActions, runs, cluster } = world;
  const { random } = sim;
  const readers = runs.filter((run) => run.hasInput);
  const talkers = runs.filter((run) => run.sim.source.isDeliverable);
  const workers = runs.filter((run) => run.canStep());
  const next = random.weighted<() => void>([
    [3, () => clientActions.step()],
    [client.requests.length > 0 ? 2 : 0, () => void clientActions.answer(false)],
    [client.source.isDeliverable ? 6 : 0, () => client.source.deliver(chunk(world))],
    [client.hasInput ? 6 : 0, () => client.read(chunk(world))],
    [readers.length * 4, () => random.pick(readers).read(chunk(world))],
    [talkers.length * 4, () => random.pick(talkers).deliver(chunk(world))],
    [workers.length * 4, () => random.pick(workers).step()],
    [0.2, () => void world.connection.health()],
    [cluster ? 4 : 1, () => passTime(world, random.int(1, 15_000))],
    [cluster?.hasMessages ? 20 : 0, () => cluster?.step()],
    [cluster ? 0.25 : 0, () => cluster?.fault()],
    [sim.policyModel ? 0.3 : 0, () => sim.policyModel?.change()],
  ]);
  next();
}

/** A byte, a part of a line, or many lines at once. */
function chunk({ sim: { random } }: World): number {
  return random.weighted([
    [0.5, 1],
    [1, random.int(2, 60)],
    [3, random.int(60, 600)],
    [8, CHUNK_BYTES],
  ]);
}

/** To the next timer or the next moment at which a peer wants to act, but not further than `ms`. */
function passTime(world: World, ms: number): void {
  const { clock } = world.sim;
  const until = clock.nowMs + ms;
  const due = [...world.runs.flatMap(({ jobs }) => jobs), ...world.client.requests]
    .map(({ dueMs }) => dueMs)
    .filter((at) => at > clock.nowMs);
  const timerAt = clock.nextAtMs();
  const next = Math.min(until, ...due);
  if (timerAt !== undefined && timerAt <= next) fireNext(world, next);
  else clock.passTo(next);
}

/** One timer, or many ticks of a bus on which nothing happens. */
function fireNext({ sim: { clock }, cluster }: World, untilMs = Number.POSITIVE_INFINITY): void {
  clock.fireNext();
  for (let left = IDLE_TICKS; left > 0 && cluster && !cluster.hasMessages && clock.nextOwner() === 'bus'; left--) {
    if ((clock.nextAtMs() as number) > untilMs) return;
    clock.fireNext();
  }
}

const IDLE_TICKS = 50;
const MAX_DRAIN_EVENTS = 20_000;
/** Links never stop ticking: until the longest limit of a prompt, and the loss of a link after it. */
const BUS_SILENT_MS = 90_000;

/** Everybody reads on and sends what they owe. What nobody wants to send ends with its agent's process or a cancel. */
async function drain(world: World): Promise<void> {
  const { sim, client, clientActions, runs } = world;
  const { random, clock } = sim;
  sim.trace('--- from here on everybody says what they owe');
  client.isReading = true;
  world.cluster?.recover();
  let timersLeft = 200;
  const noticedAtMs = clock.nowMs + (world.cluster ? BUS_SILENT_MS : SILENT_MS);
  for (let left = MAX_DRAIN_EVENTS; left > 0; left--) {
    const moves = movesLeft(world);
    if (moves.length > 0) {
      await world.event(random.pick(moves));
      continue;
    }
    const stuck = runs.filter(({ sim: { isAlive }, jobs, isReading }) => isAlive && (jobs.length > 0 || !isReading));
    if (stuck.length > 0) {
      await world.event(() => loosen(world, random.pick(stuck)));
      continue;
    }
    if (client.requests.length > 0 && random.chance(0.7)) {
      await world.event(() => void clientActions.answer(true));
      continue;
    }
    const nextAtMs = clock.nextAtMs();
    // Some timers repeat forever; among them may be the one that notices a lost connection.
    if (nextAtMs === undefined || (timersLeft-- <= 0 && nextAtMs > noticedAtMs)) {
      sim.oracle.drained();
      return world.event(() => {});
    }
    await world.event(() => fireNext(world));
  }
  throw new Error('  the history does not come to an end');
}

function movesLeft({ client, runs, clientActions, cluster }: World): (() => void)[] {
  const moves: (() => void)[] = [];
  if (cluster?.hasMessages) moves.push(cluster.step);
  if (client.source.isDeliverable) moves.push(() => client.source.deliver(CHUNK_BYTES));
  if (client.hasInput) moves.push(() => client.read(CHUNK_BYTES));
  if (client.requests.some(({ isNever }) => !isNever)) {
    for (const pending of client.requests) pending.dueMs = 0;
    moves.push(() => void clientActions.answer(false));
  }
  for (const run of runs) {
    if (run.hasInput) moves.push(() => run.read(CHUNK_BYTES));
    if (run.sim.source.isDeliverable) moves.push(() => run.deliver(CHUNK_BYTES));
    if (run.canStep()) moves.push(() => run.step());
  }
  return moves;
}

/** An agent that waits in vain gives up, is cancelled, or dies. */
function loosen({ sim, client, clientActions }: World, run: Run): void {
  const { random } = sim;
  if (random.chance(0.3)) {
    sim.trace(`${run.agent}#${run.number} dies of what it owes`);
    return run.sim.die({ code: 1, signal: null });
  }
  run.isReading = true;
  const waiting = run.jobs.find(
    ({ waitsFor, session }) => waitsFor && client.sessions.some((one) => one.lineage === session?.lineage && !one.isClosed),
  );
  const session = client.sessions.find(({ lineage, isClosed }) => lineage === waiting?.session?.lineage && !isClosed);
  if (session && random.chance(0.5)) clientActions.cancel(session);
  for (const job of run.jobs) {
    job.isMute = false;
    job.dueMs = 0;
    if (!session) job.waitsFor = undefined;
  }
}

/** A host that was not told of the end of a link notices it by itself, and ends the agent. */
async function hostsNotice(world: World): Promise<void> {
  const { clock } = world.sim;
  world.cluster?.recover();
  for (const untilMs = clock.nowMs + BUS_SILENT_MS; clock.nowMs < untilMs && world.runs.some((run) => run.sim.isAlive); ) {
    const [move] = movesLeft(world);
    if (move) await world.event(move);
    else await world.event(() => fireNext(world));
  }
}

/** The client disconnects; what the proxy leaves behind is counted. */
async function end(world: World): Promise<void> {
  const { client, connection, sim } = world;
  const { clock, oracle, random } = sim;
  sim.trace('--- the client goes');
  oracle.seen.isStopping = true;
  let hasEnded = false;
  void connection.ended.then(() => {
    hasEnded = true;
  });
  await world.event(() => {
    if (random.chance(0.2)) client.sink.break();
    client.source.resume();
    client.source.end();
  });
  if (!hasEnded) throw new Error('  the connection does not see that the client has gone');
  let hasStopped = false;
  await world.event(
    () =>
      void connection.stop().then(() => {
        hasStopped = true;
      }),
  );
  for (let left = 2000; left > 0 && !hasStopped; left--) {
    const moves = movesLeft(world);
    if (moves.length > 0 && random.chance(0.8)) await world.event(random.pick(moves));
    else if (clock.nextAtMs() !== undefined) await world.event(() => fireNext(world));
    else await world.event(() => {});
  }
  if (!hasStopped) throw new Error('  the connection does not stop');
  if (world.cluster) await hostsNotice(world);
  await world.event(() => oracle.stopped());
}
