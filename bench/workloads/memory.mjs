// Memory of an idle proxy, and of each open session without traffic.
import path from 'node:path';
import { run } from '../lib/measure.mjs';
import { cpu, mb, ofStep } from '../lib/rounds.mjs';

export default {
  name: 'memory',
  title: 'Memory at rest',
  variants: ['relay', 'raw', 'ours', 'naive', 'jsonrpc', 'sdk'],
  short: ['raw', 'ours'],
  cycles: { full: 5, short: 1 },
  metrics: {
    idleMb: { title: 'RSS MB after initialize', digits: 1 },
    perSessionKb: { title: 'kB per session, 5,000 to 10,000', digits: 2 },
    firstKb: { title: 'the first 5,000', digits: 2 },
    idleCpuMs: { title: 'CPU ms per idle second', digits: 2 },
  },
  /** As after the first start: the configuration was read before, and the agent is known. */
  home: (name, dir) => (name === 'ours' ? path.join(dir, 'home-ours') : undefined),
  async before({ load, variant, workDir, name, cycle }) {
    if (name === 'ours' && cycle === 0)
      await run({ load, variant, steps: ['init', 'idle:ms=300'], workDir, home: this.home(name, workDir) });
  },
  steps({ isShort }) {
    const rest = `idle:ms=${isShort ? 700 : 1500}`;
    // The first thousands also make V8's young generation grow, once. The later ones show what a session adds.
    return ['init', 'idle:ms=700', rest, 'new:n=5000', rest, 'new:n=5000', rest];
  },
  read(results) {
    const [first, second, five, ten] = ofStep(results, 'idle');
    if (first.rssKb < 0) return {};
    return {
      idleMb: [mb(first.rssKb)],
      perSessionKb: [(ten.rssKb - five.rssKb) / 5000],
      firstKb: [(five.rssKb - second.rssKb) / 5000],
      idleCpuMs: [cpu(second) / 1e6 / (second.wallNs / 1e9)],
    };
  },
};
