// Compares the program table of the policy with what programs really do: `npm run policy:reality -- [--lines 10000] [--only git,rg] [--mutate]`.
// Linux only; root installs the programs that are missing.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const outfile = path.join(root, 'node_modules/.cache/acp-switchboard/policy-reality.mjs');
mkdirSync(path.dirname(outfile), { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ['test/policy/reality/cli.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['esbuild'],
  logLevel: 'warning',
});
const { main } = await import(pathToFileURL(outfile).href);
await main(root);
