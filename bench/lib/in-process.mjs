// Measures parts of the switchboard in this process, without proxy and pipes.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { summary } from './collect.mjs';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

/** Bundles and loads exports of src/: `{ name: 'policy/decide.ts' }` gives `{ name: (its export) }`. */
export async function load(workDir, exports) {
  const entry = path.join(workDir, 'parts-entry.ts');
  const lines = Object.entries(exports).map(([name, file]) => `export { ${name} } from ${JSON.stringify(path.join(root, 'src', file))};`);
  writeFileSync(entry, lines.join('\n'));
  const outfile = path.join(workDir, `parts-${Object.keys(exports).join('-')}.mjs`);
  const banner = { js: 'const require = (name) => process.getBuiltinModule(name);' };
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner,
    absWorkingDir: root,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** CPU time of one call, in microseconds: the best of many rounds, after some to warm up. */
export function timed(call, { rounds, callsPerRound }) {
  const samples = [];
  for (let round = 0; round < rounds + 3; round++) {
    const before = process.cpuUsage();
    for (let n = 0; n < callsPerRound; n++) call(n);
    const { user, system } = process.cpuUsage(before);
    if (round >= 3) samples.push((user + system) / callsPerRound);
  }
  return summary(samples);
}
