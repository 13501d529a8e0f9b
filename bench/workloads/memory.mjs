// What an idle proxy holds, and what each session that is open and silent adds to it.
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
    perSessionKb: { title: 'kB per session', digits: 2 },
    idleCpuMs: { title: 'CPU ms per idle second', digits: 2 },
  },
  /** As on any day but the first: the configuration has been read before, and the agent been met. */
  home: (name, dir) => (name === 'ours' ? path.join(dir, 'home-ours') : undefined),
  async before({ load, variant, workDir, name, cycle }) {
    if (name === 'ours' && cycle === 0)
      await run({ load, variant, steps: ['init', 'idle:ms=300'], workDir, home: this.home(name, workDir) });
  },
  steps({ isShort }) {
    const rest = `idle:ms=${isShort ? 700 : 1500}`;
    return ['init', 'idle:ms=700', rest, 'new:n=1000', rest, 'new:n=4000', rest];
  },
  read(results) {
    const [first, second, thousand, five] = ofStep(results, 'idle');
    if (first.rssKb < 0) return {};
    return {
      idleMb: [mb(first.rssKb)],
      perSessionKb: [(five.rssKb - thousand.rssKb) / 4000],
      idleCpuMs: [cpu(second) / 1e6 / (second.wallNs / 1e9)],
    };
  },
};
