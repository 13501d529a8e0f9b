// Small frames, one write each, as most agents send them; first in a new process, then in a warm one.
import { cpu, cpuUsPerFrame, ofStep, rounds } from '../lib/rounds.mjs';

const FRAMES = 20_000;

export default {
  name: 'single',
  title: 'Single writes: 20,000 updates of 200 B, one write each',
  variants: ['direct', 'relay', 'raw', 'ours', 'bare', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours', 'naive'],
  takesPeers: true,
  cycles: { full: 7, short: 4 },
  metrics: {
    coldCpuMs: { title: 'cold: CPU ms', digits: 0 },
    cpuUs: { title: 'warm: CPU µs/frame', digits: 2 },
    coldWallMs: { title: 'cold: wall ms', digits: 0 },
    wallMs: { title: 'warm: wall ms', digits: 0 },
  },
  // Always all of the frames: the first 20,000 are what "cold" means.
  steps: ({ isShort }) => ['init', 'new:n=1', ...rounds(isShort ? 4 : 5, `s=0,do=stream,frames=${FRAMES},batch=1`)],
  read(results) {
    const [cold, ...warm] = ofStep(results, 'round');
    return {
      coldCpuMs: [cpu(cold) / 1e6],
      cpuUs: warm.map(cpuUsPerFrame),
      coldWallMs: [cold.wallNs / 1e6],
      wallMs: warm.map(({ wallNs }) => wallNs / 1e6),
    };
  },
};
