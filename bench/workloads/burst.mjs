// Small frames, 64 in each write of the agent: a fast model with a batching runtime.
import { cpuUsPerFrame, frames, megabytesPerSecond, ofStep, rounds } from '../lib/rounds.mjs';

export default {
  name: 'burst',
  title: 'Bursts: 200 B updates, 64 per write',
  variants: ['direct', 'relay', 'raw', 'ours', 'four', 'bare', 'logged', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours', 'bare', 'logged', 'naive', 'jsonrpc', 'sdk'],
  takesPeers: true,
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    mbps: { title: 'MB/s', digits: 0, better: 'higher' },
  },
  steps: ({ isShort, share }) => [
    'init',
    'new:n=1',
    ...rounds(1, `s=0,do=stream,frames=${frames(20_000, share)}`),
    ...rounds(isShort ? 3 : 4, `s=0,do=stream,frames=${frames(100_000, share)}`),
  ],
  read(results) {
    const [, ...warm] = ofStep(results, 'round');
    return { cpuUs: warm.map(cpuUsPerFrame), mbps: warm.map(megabytesPerSecond) };
  },
};
