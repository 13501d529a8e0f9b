// The same number of frames over more and more sessions of four agents. The sessions alternate, so that each frame belongs to another one.
import { cpuUsPerFrame, frames, ofStep, rounds } from '../lib/rounds.mjs';

const AGENTS = 4;
const FRAMES = 100_000;
/** Rounds until V8 has compiled the path of a turn and the transcripts have their files. */
const WARM_UP = 4;

const over = (sessions) => ({
  name: `sessions-${sessions}`,
  family: 'sessions', // they are compared with each other
  title: `Sessions: 100,000 updates over ${sessions} sessions of 4 agents`,
  agents: AGENTS,
  variants: ['ours', 'bare', 'naive', 'jsonrpc', 'sdk'],
  short: sessions === 100 ? [] : ['ours'],
  takesPeers: true,
  cycles: { full: 5, short: 2 },
  metrics: {
    cpuUs: { title: 'CPU µs/frame', digits: 2 },
    ...(sessions > AGENTS && { turnUs: { title: 'CPU µs of a turn with one frame', digits: 1 } }),
  },
  steps({ share }) {
    const each = frames(FRAMES / sessions, share);
    const options = (count) => `s=0-${sessions - 1},do=stream,frames=${count},group=${Math.ceil(sessions / AGENTS)}`;
    const turns = sessions > AGENTS ? rounds(4, options(1)) : [];
    return ['init', `new:n=${sessions},agents=${AGENTS}`, ...rounds(WARM_UP + 4, options(each)), ...turns];
  },
  read(results) {
    const warm = ofStep(results, 'round').slice(WARM_UP);
    // More sessions also mean more turns. The cost of a turn shows how much of the difference comes from them.
    const isOfTurns = ({ frames: count }) => sessions > AGENTS && count === sessions;
    const turns = warm.filter(isOfTurns);
    return {
      cpuUs: warm.filter((round) => !isOfTurns(round)).map(cpuUsPerFrame),
      ...(turns.length > 0 && { turnUs: turns.map(cpuUsPerFrame) }),
    };
  },
});

export default [over(4), over(100), over(1000)];
