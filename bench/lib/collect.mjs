// Runs a workload with all its variants, interleaved and several times, and keeps the best values.
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { RunFailure, run } from './measure.mjs';

/** The best sample is the cost of the code; the others include what other programs on the machine add. */
export function summary(samples, better = 'lower') {
  const sorted = samples.filter(Number.isFinite).toSorted((a, b) => (better === 'lower' ? a - b : b - a));
  if (sorted.length === 0) return undefined;
  return { best: sorted[0], median: sorted[Math.floor((sorted.length - 1) / 2)], n: sorted.length };
}

/**
 * Workloads whose figures are compared take turns, as their variants do: then other programs on the machine disturb all alike.
 * Resolves to `{ [workload]: { [variant]: { [metric]: { best, median, n } } } }`, with `{ failure }` for a variant that failed.
 */
export async function collect(together, { isTimeUp = () => false, ...surroundings }) {
  const measured = together.map((workload) => measurement(workload, surroundings));
  const most = Math.max(...measured.map(({ cycles }) => cycles));
  for (let cycle = 0; cycle < most && !(cycle > 0 && isTimeUp()); cycle++)
    for (const one of measured) if (cycle < one.cycles) await one.run(cycle);
  return Object.fromEntries(measured.map((one, index) => [together[index].name, one.figures()]));
}

/** Every run has compared each frame with the expected one. Here the digests of all variants are compared. */
function measurement(workload, { load, variants, workDir, isShort, onRun = () => {} }) {
  if (workload.measure) return inOneGo(workload, { isShort, workDir, variants, load });
  const names = workload.variants.filter((name) => name in variants);
  for (const [name, variant] of Object.entries(variants))
    if (variant.isPeer && workload.takesPeers && (variant.several || (workload.agents ?? 1) === 1)) names.push(name);
  const chosen = names.filter((name) => !isShort || workload.short === undefined || workload.short.includes(name) || variants[name].isPeer);
  const samples = new Map(chosen.map((name) => [name, new Map()]));
  const failures = new Map();
  const digests = new Map();
  const dir = mkdtempSync(path.join(workDir, `${workload.name}-`));
  const cycles = workload.cycles?.[isShort ? 'short' : 'full'] ?? (isShort ? 3 : 5);

  async function measure(name, cycle) {
    const variant = variants[name];
    const about = { name, isShort, share: variant.share ?? 1, cycle };
    await workload.before?.({ load, variant, workDir: dir, ...about });
    const home = workload.home?.(name, dir);
    const results = await run({
      load,
      variant,
      agents: workload.agents,
      steps: withLayout(variant, workload.steps(about)),
      workDir: dir,
      home,
    });
    for (const [metric, values] of Object.entries(workload.read(results, about))) {
      if (variant.isNoProxy && /cpu/i.test(metric)) continue; // this would be the agent's
      const all = samples.get(name).get(metric) ?? [];
      samples.get(name).set(metric, all.concat(values));
    }
    for (const { frames, bytes, digest, sessions } of results)
      if (frames > 0 && !workload.isEndless && variant.layout === undefined)
        agree(digests, `${frames} frames, ${bytes} bytes, ${sessions}`, digest, name);
  }

  return {
    cycles,
    async run(cycle) {
      // Another order in each cycle, so that no variant always follows the same one. Slow variants are stable enough for two cycles.
      const order = chosen
        .map((_, index) => chosen[(index + cycle) % chosen.length])
        .filter((name) => !failures.has(name) && (!isShort || cycle < 2 || (variants[name].share ?? 1) === 1));
      for (const name of order) {
        try {
          await measure(name, cycle);
        } catch (error) {
          if (!(error instanceof RunFailure)) throw error;
          failures.set(name, error.message);
        }
        onRun(workload, name, cycle, cycles, failures.get(name));
      }
    },
    figures() {
      return Object.fromEntries(
        chosen.map((name) => {
          if (failures.has(name)) return [name, { failure: failures.get(name) }];
          const figures = [...samples.get(name)].map(([metric, values]) => [metric, summary(values, workload.metrics[metric]?.better)]);
          return [name, Object.fromEntries(figures.filter(([, figure]) => figure !== undefined))];
        }),
      );
    },
  };
}

/** A workload that measures by itself. */
function inOneGo(workload, surroundings) {
  let figures = {};
  return {
    cycles: 1,
    async run() {
      try {
        figures = await workload.measure(surroundings);
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        figures = { ours: { failure: error.message } };
      }
    },
    figures: () => figures,
  };
}

/** Frames of a variant that writes members in another order are compared in that order. */
const withLayout = ({ layout }, steps) => (layout === undefined ? steps : [`layout:${layout}`, ...steps]);

function agree(digests, key, digest, name) {
  const first = digests.get(key);
  if (first === undefined) digests.set(key, { digest, name });
  else if (first.digest !== digest)
    throw new RunFailure(`the same frames came out of "${name}" and of "${first.name}" with different digests`);
}
