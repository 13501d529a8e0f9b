// The load program. It is compiled from C if there is a compiler, because a load in Node would hide the cost of the proxy; else it is Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const cacheDir = path.join(os.tmpdir(), `switchboard-bench-${os.userInfo().uid}`);

/** How to start it, and its language. `BENCH_LOAD=node` selects the fallback. */
export function loadProgram() {
  const source = path.join(bench, 'load.c');
  const fallback = { command: [process.execPath, path.join(bench, 'load.mjs')], language: 'Node', hasRelay: false };
  if (process.env.BENCH_LOAD === 'node' || process.platform === 'win32') return fallback;
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const program = path.join(cacheDir, `load-${hash}`);
  if (!existsSync(program)) {
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    const made = `${program}.${process.pid}`;
    const { status, error, stderr } = spawnSync('cc', ['-O2', '-o', made, source], { encoding: 'utf8' });
    if (error || status !== 0) {
      console.error(`bench: no C load program (${error?.code ?? stderr.split('\n')[0]}), so the load is Node's: ratios come out smaller`);
      return fallback;
    }
    renameSync(made, program);
  }
  return { command: [program], language: 'C', hasRelay: true };
}
