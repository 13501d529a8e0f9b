// The client stops reading while the agent sends 500 MB, and then continues: how much does the proxy hold, and does everything arrive?
import { mb, ofStep } from '../lib/rounds.mjs';

const MB = 1e6;

const stalled = (name, title, part, frameBytes) => ({
  name,
  title,
  variants: ['raw', 'ours', 'naive', 'jsonrpc', 'sdk'],
  short: ['ours'],
  cycles: { full: 2, short: 1 },
  metrics: {
    growthMb: { title: 'growth in the stall, MB', digits: 1, ratio: false },
    resumeMbps: { title: 'MB/s after it', digits: 0, better: 'higher' },
  },
  steps({ isShort, share }) {
    const count = Math.round(((isShort ? 100 : 500) * MB * share) / frameBytes);
    return ['init', 'new:n=1', 'idle:ms=500', `round:s=0,do=stream,${part},frames=${count},stall=${isShort ? 2000 : 8000}`];
  },
  read(results) {
    const [{ rssBeforeKb, rssStalledKb, bytes, resumeNs }] = ofStep(results, 'round');
    return { growthMb: rssBeforeKb < 0 ? [] : [mb(rssStalledKb - rssBeforeKb)], resumeMbps: [bytes / MB / (resumeNs / 1e9)] };
  },
});

export default [
  stalled('stall-small', 'Stalled client: 500 MB of 200 B frames', 'kind=small', 201.75),
  stalled('stall-large', 'Stalled client: 500 MB of 1 MB frames', 'kind=diff,size=1m', 1.049e6),
];
