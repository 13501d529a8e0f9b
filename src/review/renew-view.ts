// Makes files in an agent's view equal to those below. Nobody may write to a layer while it is mounted, so this goes through the mount, in the
// agent's own sandbox: it can do nothing that the agent could not.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Contained, Program } from '../sandbox/run/contain.ts';
import { type Layer, partsOf } from './layers.ts';

/** Puts a command into the sandbox of the layer's agent. The command also sees the project below the layer. */
export type Inside = (program: Program, enter: (program: Program) => Program) => Contained;

/** Gets pairs of paths, below and in the view, the outer ones first. */
const COPY = `
const fs = require('node:fs'), path = require('node:path');
const stat = (file) => { try { return fs.lstatSync(file) } catch { return undefined } };
const attempt = (act) => { try { act() } catch {} };
for (const [from, to, top] of JSON.parse(fs.readFileSync(0, 'utf8'))) attempt(() => {
  const below = stat(from), now = stat(to);
  if (below?.isDirectory() && now?.isDirectory()) return fs.chmodSync(to, below.mode & 0o777);
  fs.rmSync(to, { recursive: true, force: true });
  if (!below) {
    for (let at = path.dirname(to), under = path.dirname(from); at !== top && !stat(under); at = path.dirname(at), under = path.dirname(under))
      fs.rmdirSync(at);
    return;
  }
  fs.mkdirSync(path.dirname(to), { recursive: true });
  if (below.isDirectory()) fs.mkdirSync(to, { mode: below.mode & 0o777 });
  else if (below.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(from), to);
  else if (below.isFile()) { fs.copyFileSync(from, to); fs.chmodSync(to, below.mode & 0o777); }
});
`;

const LIMIT_MS = 60_000;

/** Resolves when it is done, or has failed: then the next turn tries again. */
export function copyInto(layer: Layer, files: readonly string[], inside: (program: Program) => Contained): Promise<void> {
  const pairs = [...files]
    .sort((a, b) => a.length - b.length)
    .flatMap((file) => {
      const index = layer.roots.findIndex((root) => file.startsWith(`${root}/`));
      const root = layer.roots[index];
      return root === undefined ? [] : [[path.join(partsOf(layer, index).lower, path.relative(root, file)), file, root]];
    });
  if (pairs.length === 0) return Promise.resolve();
  const contained = inside({ command: process.execPath, args: ['-e', COPY], env: {} });
  return new Promise((resolve) => {
    const child = spawn(contained.command, [...contained.args], {
      env: { PATH: process.env.PATH, ...contained.env },
      stdio: ['pipe', 'ignore', 'ignore', ...contained.stdio],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    contained.started(child);
    child.stdin?.on('error', () => {});
    child.on('error', () => resolve());
    child.on('close', () => resolve());
    child.stdin?.end(JSON.stringify(pairs));
  });
}
