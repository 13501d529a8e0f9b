// A request from the agent (fs/read_text_file) and the client's answer, one after the other, timed by the agent.
import { cpu, ofStep, rounds } from '../lib/rounds.mjs';

export default {
  name: 'roundtrip',
  title: 'Round trips: the agent reads a file through the client',
  variants: ['direct', 'relay', 'raw', 'ours', 'naive', 'jsonrpc', 'sdk'],
  short: ['direct', 'raw', 'ours', 'naive'],
  takesPeers: true,
  cycles: { full: 5, short: 3 },
  metrics: {
    p50Us: { title: 'p50 µs', digits: 0 },
    p99Us: { title: 'p99 µs', digits: 0 },
    cpuUs: { title: 'CPU µs/round trip', digits: 1 },
  },
  // Many rounds: it takes some ten thousand round trips until V8 has compiled the path.
  steps: ({ isShort }) => ['init', 'new:n=1', ...rounds(isShort ? 6 : 8, 's=0,do=ping,n=2000')],
  read(results) {
    const [, ...warm] = ofStep(results, 'round');
    return {
      p50Us: warm.map(({ bench: [ping] }) => ping.p50 / 1000),
      p99Us: warm.map(({ bench: [ping] }) => ping.p99 / 1000),
      cpuUs: warm.map((round) => cpu(round) / round.bench[0].n / 1000),
    };
  },
};
