// One agent stops reading while the client keeps sending to it, and another agent works. Is the second slowed down, and is memory bounded?
// First below the cap of the queue (64 MB by default), then above it, where the proxy must stop the first agent only.
import { mb, ofStep, rounds } from '../lib/rounds.mjs';

const ping = (n) => `s=1,do=ping,n=${n}`;

export default {
  name: 'stopped-reader',
  title: 'Stopped reader: 48 MB, then 112 MB sent to an agent that does not read, while another works',
  agents: 2,
  variants: ['ours'],
  cycles: { full: 5, short: 2 },
  metrics: {
    p50BeforeUs: { title: 'p50 µs before', digits: 0 },
    p50DuringUs: { title: 'p50 µs meanwhile', digits: 0 },
    queuedMb: { title: 'growth with 48 MB waiting, MB', digits: 0 },
    peakMb: { title: 'growth beyond the cap, MB', digits: 0 },
    answered: { title: 'requests answered with an error', digits: 0, better: 'higher' },
  },
  steps: () => [
    'init',
    'new:n=2,agents=2',
    ...rounds(6, ping(2000)), // until V8 has compiled the path
    ...rounds(3, ping(1000)),
    `round:s=0,do=stop-reading,flood=48m+${ping(1000)}`,
    ...rounds(3, ping(1000)),
    'flood:s=0,bytes=64m',
    ...rounds(1, ping(500)),
  ],
  read(results) {
    const all = ofStep(results, 'round');
    const [flood] = ofStep(results, 'flood');
    const p50 = ({ bench }) => bench.find((one) => one.p50 !== undefined).p50 / 1000;
    const before = all[8].rssKb;
    return {
      p50BeforeUs: all.slice(6, 9).map(p50),
      p50DuringUs: all.slice(10, 13).map(p50),
      queuedMb: before < 0 ? [] : [mb(all[10].rssKb - before)],
      peakMb: before < 0 ? [] : [mb(flood.peakKb - before)],
      answered: [flood.errors],
    };
  },
};
