// What a sandbox costs: the start of Node, and frames between two processes. Outside and inside take turns, and the best of each counts.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { summary } from '../lib/collect.mjs';
import { load } from '../lib/in-process.mjs';

const ECHO = 'process.stdin.pipe(process.stdout)';
const FRAME = `${'x'.repeat(199)}\n`;
const FRAMES_AT_ONCE = 250;

export default {
  name: 'sandbox',
  title: 'Sandbox: start of Node, and 200 B frames to a Node process and back (Linux with bubblewrap)',
  /** For the check of goals. */
  variants: ['outside', 'workspace', 'review'],
  metrics: { startMs: { title: 'start, wall ms', digits: 1 }, framesMs: { title: '250 frames, wall ms', digits: 2 } },
  async measure({ isShort, workDir }) {
    const parts = {
      contain: 'sandbox/run/contain.ts',
      availableSandbox: 'sandbox/run/available.ts',
      mountLayer: 'review/namespace.ts',
      openLayer: 'review/layers.ts',
    };
    const { contain, availableSandbox, mountLayer, openLayer } = await load(workDir, parts);
    const available = availableSandbox();
    if (available.kind !== 'bubblewrap') return {};
    const project = realpathSync(mkdtempSync(path.join(workDir, 'project-')));
    const state = path.join(workDir, 'state');
    mkdirSync(state, { recursive: true });
    const namespace = mountLayer(openLayer(state, 'bench', { roots: [project], agent: 'bench' }, new Date().toISOString()));
    const profile = {
      ...{ level: 'workspace', network: 'open', hosts: { allow: [], ports: [] }, roots: [project], cwd: project, temporary: ['/tmp'] },
      ...{ places: [{ kind: 'write', path: project, isDirectory: true, why: '' }], sockets: [], gaps: [] },
    };
    const inside = (enter) => (program) => contain(profile, program, { available, bridge: '', decide: async () => 'no host', enter });
    const variants = {
      outside: (program) => ({ ...program, stdio: [], started() {} }),
      workspace: inside(undefined),
      ...(!('problem' in namespace) && { review: inside(namespace.enter) }),
    };
    const samples = Object.fromEntries(Object.keys(variants).map((name) => [name, { startMs: [], framesMs: [] }]));
    for (let round = 0; round < (isShort ? 20 : 120); round++)
      for (const [name, wrap] of Object.entries(variants)) {
        samples[name].startMs.push(await startOf(wrap));
        if (round % 10 === 0) samples[name].framesMs.push(...(await framesThrough(wrap, isShort ? 100 : 300)));
      }
    if (!('problem' in namespace)) namespace.close();
    return Object.fromEntries(
      Object.entries(samples).map(([name, { startMs, framesMs }]) => [name, { startMs: summary(startMs), framesMs: summary(framesMs) }]),
    );
  },
};

function start(wrap, args) {
  const program = wrap({ command: process.execPath, args, env: { PATH: process.env.PATH } });
  const child = spawn(program.command, program.args, { env: program.env, stdio: ['pipe', 'pipe', 'inherit', ...program.stdio] });
  program.started(child);
  return child;
}

async function startOf(wrap) {
  const from = performance.now();
  const child = start(wrap, ['-e', '0']);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`Node ended with exit code ${code}`);
  return performance.now() - from;
}

/** Wall time of a batch of frames, there and back, in a process that runs already. */
async function framesThrough(wrap, batches) {
  const child = start(wrap, ['-e', ECHO]);
  const bytes = FRAME.repeat(FRAMES_AT_ONCE);
  const samples = [];
  for (let batch = 0; batch < batches; batch++) {
    const from = performance.now();
    await new Promise((resolve) => {
      let left = bytes.length;
      child.stdout.on('data', function count(chunk) {
        left -= chunk.length;
        if (left > 0) return;
        child.stdout.off('data', count);
        resolve();
      });
      child.stdin.write(bytes);
    });
    if (batch > 2) samples.push(performance.now() - from);
  }
  child.stdin.end();
  await new Promise((resolve) => child.once('exit', resolve));
  return samples;
}
