// The first large frame of a process. The frame has just under 1 MB: above it, the proxy also logs a warning once.
import { cpu, ofStep } from '../lib/rounds.mjs';

export default {
  name: 'cold-large',
  title: 'Cold process: the first 1 MB diff',
  variants: ['raw', 'ours', 'bare', 'naive'],
  short: ['raw', 'ours'],
  takesPeers: true,
  cycles: { full: 9, short: 5 },
  metrics: {
    cpuMs: { title: 'CPU ms', digits: 1 },
    wallMs: { title: 'wall ms', digits: 1 },
  },
  // A small turn first: the goal is about the frame, not about the first turn.
  steps: () => ['init', 'new:n=1', 'round:s=0,do=stream,frames=1', 'round:s=0,do=stream,kind=diff,size=1000k,frames=1'],
  read(results) {
    const [, round] = ofStep(results, 'round');
    return { cpuMs: [cpu(round) / 1e6], wallMs: [round.wallNs / 1e6] };
  },
};
