// Runs many seeds of the simulator: `npm run sim -- --seeds 10000 [--from 1] [--jobs 2]`, of the proxy, with --bus of the proxy with its
// agents on hosts of a bus that fails, or with --clients of the client multiplexer. --fleet runs nothing: it computes what --sessions sessions
// on many hosts cost. Exits with 1 if a seed fails, and names it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const SHARE = 50;
/** As in test/sim/world.ts. */
const BUS_SEEDS = 2_000_000_000;

if (isMainThread) await main();
else await work(workerData);

async function main() {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '10000' },
      from: { type: 'string' },
      jobs: { type: 'string', default: String(Math.max(1, os.availableParallelism())) },
      trace: { type: 'string', default: '60' },
      clients: { type: 'boolean', default: false },
      bus: { type: 'boolean', default: false },
      fleet: { type: 'boolean', default: false },
      sessions: { type: 'string', default: '100000' },
    },
  });
  const from = Number(values.from ?? (values.bus ? BUS_SEEDS + 1 : 1));
  const count = Number(values.seeds);
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-sim-'));
  const startedMs = performance.now();
  try {
    const bundle = path.join(dir, 'sim.cjs');
    if (values.fleet) {
      await bundleTo(bundle, 'test/sim/fleet/fleet.ts');
      return console.log(createRequire(import.meta.url)(bundle).report(Number(values.sessions)));
    }
    await bundleTo(bundle, values.clients ? 'test/attach/seeds.ts' : 'test/sim/seeds.ts');
    const { addTotals, noTotals, summary } = createRequire(import.meta.url)(bundle);
    const totals = noTotals();
    let next = from;
    let shown = 0;
    const add = ({ done, explained }) => {
      addTotals(totals, done);
      for (const text of explained) if (shown++ < 3) console.log(`\n${text}\n`);
      const percent = Math.floor((100 * totals.seeds) / count);
      console.log(
        `${totals.seeds}/${count} (${percent} %), ${totals.failed.length} failed, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
      );
    };
    const share = () => {
      const size = Math.min(Math.max(SHARE, Math.ceil(count / 40)), from + count - next);
      next += size;
      return { from: next - size, count: size };
    };
    await Promise.all(Array.from({ length: Number(values.jobs) }, () => runWorker({ bundle, lines: Number(values.trace) }, share, add)));
    console.log(summary(totals));
    const failed = totals.failed.sort((a, b) => a.seed - b.seed);
    for (const { seed, problem } of failed) console.log(`seed ${seed}: ${problem.split('\n')[0].trim()}`);
    process.exitCode = failed.length > 0 ? 1 : 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function bundleTo(outfile, entry) {
  const { build } = await import('esbuild');
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

/** Runs one worker, one share of seeds after the other. */
function runWorker(data, share, add) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data, execArgv: ['--enable-source-maps'] });
  return new Promise((resolve, reject) => {
    const give = () => {
      const mine = share();
      if (mine.count > 0) worker.postMessage(mine);
      else worker.terminate().then(resolve, reject);
    };
    worker.on('message', (result) => {
      add(result);
      give();
    });
    worker.on('error', reject);
    give();
  });
}

async function work({ bundle, lines }) {
  const { runSeeds, explain } = createRequire(import.meta.url)(bundle);
  parentPort.on('message', async ({ from, count }) => {
    const explained = [];
    const done = await runSeeds(from, count, (report) => {
      if (report.problem !== undefined) explained.push(explain(report, lines));
    });
    parentPort.postMessage({ done, explained: explained.slice(0, 3) });
  });
}
