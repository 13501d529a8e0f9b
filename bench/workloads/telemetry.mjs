// Bursts and turns without telemetry, with a collector configured but telemetry disabled, and with telemetry to a collector that answers at
// once or late.
import { cpuUsPerFrame, ofStep, rounds } from '../lib/rounds.mjs';

const SESSIONS = 100;
const FRAMES = 100_000;

export default {
  name: 'telemetry',
  title: 'Telemetry: bursts of 200 B updates, 64 per write, and turns of one frame',
  variants: ['ours', 'untraced', 'traced', 'traced-slow'],
  cycles: { full: 7, short: 2 },
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    turnUs: { title: 'CPU µs/turn', digits: 1 },
    turnWallUs: { title: 'wall µs/turn', digits: 0 },
  },
  steps: ({ isShort }) => [
    'init',
    `new:n=${SESSIONS}`,
    ...rounds(1, 's=0,do=stream,frames=20000'),
    ...rounds(isShort ? 3 : 4, `s=0,do=stream,frames=${FRAMES}`),
    ...rounds(isShort ? 10 : 20, `s=0-${SESSIONS - 1},do=stream,frames=1,group=${SESSIONS}`),
  ],
  read(results) {
    const [, ...warm] = ofStep(results, 'round');
    const bursts = warm.filter(({ frames }) => frames === FRAMES);
    const turns = warm.filter(({ frames }) => frames === SESSIONS).slice(3);
    return {
      cpuUs: bursts.map(cpuUsPerFrame),
      turnUs: turns.map(cpuUsPerFrame),
      turnWallUs: turns.map(({ wallNs }) => wallNs / SESSIONS / 1000),
    };
  },
};
