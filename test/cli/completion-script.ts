// The completion script of a shell, with `switchboard` on PATH.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Home } from './command.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');

export async function withScript(home: Home, shell: string): Promise<{ script: string; env: NodeJS.ProcessEnv }> {
  const bin = path.join(home.home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'switchboard'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
  const script = home.write(`script.${shell}`, (await home.quick(['completion', shell])).stdout);
  return { script, env: { PATH: `${bin}:${process.env.PATH}`, HOME: home.home, TERM: 'dumb' } };
}
