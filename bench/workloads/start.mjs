// From the start of the process to its answer to `initialize`, in front of an agent that answers at once.
import path from 'node:path';
import { run } from '../lib/measure.mjs';
import { cpu, ofStep } from '../lib/rounds.mjs';

export default {
  name: 'start',
  title: 'Start: spawn to the answer to initialize',
  variants: ['direct', 'relay', 'raw', 'ours', 'uncached', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours', 'uncached'],
  takesPeers: true,
  cycles: { full: 15, short: 8 },
  metrics: {
    wallMs: { title: 'wall ms', digits: 0 },
    cpuMs: { title: 'CPU ms', digits: 0 },
  },
  /** Ours has started the agent before, and has its capabilities cached; as `uncached` it has not. */
  home: (name, dir) => (name === 'uncached' ? undefined : path.join(dir, `home-${name}`)),
  async before({ load, variant, workDir, name, cycle }) {
    if (name === 'ours' && cycle === 0)
      await run({ load, variant, steps: ['init', 'idle:ms=300'], workDir, home: this.home(name, workDir) });
  },
  steps: () => ['init'],
  read(results) {
    const [init] = ofStep(results, 'init');
    return { wallMs: [init.wallNs / 1e6], cpuMs: [cpu(init) / 1e6] };
  },
};
