// Large frames: a diff (escapes every few dozen bytes, some UTF-8) and an image in base64, of 1 MB and of 8 MB.
import { cpu, frames, mb, megabytesPerSecond, ofStep, rounds } from '../lib/rounds.mjs';

const large = (kind, size, count) => ({
  name: `large-${kind}-${size}m`,
  title: `Large frames: ${size} MB of ${kind}`,
  frameMb: size,
  variants: ['relay', 'raw', 'ours', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours'],
  takesPeers: true,
  cycles: { full: 5, short: 2 },
  metrics: {
    cpuMs: { title: 'CPU ms/frame', digits: 2 },
    mbps: { title: 'MB/s', digits: 0, better: 'higher' },
    peakMb: { title: 'peak RSS MB', digits: 0 },
  },
  steps: ({ share, isShort }) => [
    'init',
    'new:n=1',
    ...rounds(isShort ? 3 : 4, `s=0,do=stream,kind=${kind},size=${size}m,frames=${frames(isShort ? count / 2 : count, share)}`),
  ],
  read(results) {
    const all = ofStep(results, 'round');
    const [, ...warm] = all;
    return {
      cpuMs: warm.map((round) => cpu(round) / round.frames / 1e6),
      mbps: warm.map(megabytesPerSecond),
      // The peak of one process; the best value is the lowest peak of several processes.
      peakMb: all[0].peakKb < 0 ? [] : [mb(Math.max(...all.map(({ peakKb }) => peakKb)))],
    };
  },
});

export default [large('diff', 1, 40), large('diff', 8, 8), large('base64', 1, 40), large('base64', 8, 8)];
