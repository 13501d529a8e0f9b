// One agent streams 8 MB diffs without a pause while another reads small files: how long do the round trips of the second take?
import { ofStep } from '../lib/rounds.mjs';

export default {
  name: 'head-of-line',
  title: 'Head of line: round trips of one agent while another streams 8 MB frames',
  agents: 2,
  isEndless: true, // as many frames as fit; each is still compared with the expected one
  // Not jsonrpc and sdk: they have no back-pressure and buffer gigabytes until a write fails (ENOBUFS).
  variants: ['ours', 'naive'],
  takesPeers: true,
  cycles: { full: 5, short: 2 },
  metrics: {
    p50Ms: { title: 'p50 ms', digits: 2 },
    p90Ms: { title: 'p90 ms', digits: 1 },
    p99Ms: { title: 'p99 ms', digits: 1 },
    streamMbps: { title: 'stream MB/s', digits: 0, better: 'higher' },
    pings: { title: 'round trips', digits: 0, better: 'higher' },
  },
  steps: ({ isShort }) => [
    'init',
    'new:n=2,agents=2',
    'round:s=0,do=stream,kind=diff,size=8m,frames=3+s=1,do=ping,n=500',
    `round:s=0,do=stream,kind=diff,size=8m,until=cancel+s=1,do=ping,ms=${isShort ? 3000 : 12_000},pause=1000`,
  ],
  read(results) {
    const [, { bench, bytes, wallNs }] = ofStep(results, 'round');
    const ping = bench.find(({ p50 }) => p50 !== undefined);
    return {
      p50Ms: [ping.p50 / 1e6],
      p90Ms: [ping.p90 / 1e6],
      p99Ms: [ping.p99 / 1e6],
      streamMbps: [bytes / 1e6 / (wallNs / 1e9)],
      pings: [ping.n],
    };
  },
};
