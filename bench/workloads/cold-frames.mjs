// The first 20,000 frames of a fresh process, one write each: most processes are short, and their code is not compiled yet.
import { cpu, ofStep } from '../lib/rounds.mjs';

export default {
  name: 'cold-frames',
  title: 'Cold process: the first 20,000 updates of 200 B, one write each',
  variants: ['raw', 'ours', 'bare', 'naive'],
  short: ['raw', 'ours', 'naive'],
  takesPeers: true,
  cycles: { full: 9, short: 5 },
  metrics: {
    cpuMs: { title: 'CPU ms', digits: 0 },
    wallMs: { title: 'wall ms', digits: 0 },
  },
  steps: () => ['init', 'new:n=1', 'round:s=0,do=stream,frames=20000,batch=1'],
  read(results) {
    const [round] = ofStep(results, 'round');
    return { cpuMs: [cpu(round) / 1e6], wallMs: [round.wallNs / 1e6] };
  },
};
