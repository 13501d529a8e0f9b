// Bundles the demo agent as the build does, into a directory of its own: these tests need no build and never see a stale one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

const outdir = mkdtempSync(path.join(tmpdir(), 'demo-agent-'));
afterAll(() => rmSync(outdir, { recursive: true }));

const { metafile } = await build({
  metafile: true,
  absWorkingDir: path.resolve(import.meta.dirname, '../..'),
  entryPoints: { 'demo-agent': 'src/demo/main.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  outExtension: { '.js': '.mjs' },
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
});

export const demoAgentFile = path.join(outdir, 'demo-agent.mjs');

/** The source files that Node reads before the agent does anything: the entry's and those of the chunks it imports statically. */
export const loadedAtStart = sourcesOf(Object.keys(metafile.outputs).find((output) => output.endsWith('demo-agent.mjs')) ?? '');

function sourcesOf(output: string): string[] {
  const { inputs = {}, imports = [] } = metafile.outputs[output] ?? {};
  const chunks = imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true);
  return [...Object.keys(inputs), ...chunks.flatMap((chunk) => sourcesOf(chunk.path))];
}
