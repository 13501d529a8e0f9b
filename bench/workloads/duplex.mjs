// Heavy traffic both ways at once: the agent streams bursts of updates while the client sends it as many notifications.
import { cpu, frames, ofStep, rounds } from '../lib/rounds.mjs';

export default {
  name: 'duplex',
  title: 'Both ways at once: 50,000 updates and 50,000 notifications',
  variants: ['relay', 'raw', 'ours', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours'],
  takesPeers: true,
  cycles: { full: 5, short: 2 },
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    wallMs: { title: 'wall ms per 100,000', digits: 0 },
  },
  steps({ share }) {
    const count = frames(50_000, share);
    return ['init', 'new:n=1', ...rounds(4, `s=0,do=stream,frames=${count},push=${count}`)];
  },
  read(results) {
    const [, ...warm] = ofStep(results, 'round');
    const both = (round) => round.frames + round.bench[0].notes;
    return {
      cpuUs: warm.map((round) => cpu(round) / both(round) / 1000),
      wallMs: warm.map((round) => (round.wallNs / 1e6 / both(round)) * 100_000),
    };
  },
};
