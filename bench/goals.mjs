// The promises about cost, as ratios within one run: machines differ and are shared, ratios hold.
// `of` computes a figure from the best values of a run; it is NaN when a value was not measured.
// `heldAt`: the goal is out of reach for now, or so close that a busy machine misses it (bench/README.md explains why). The gate fails
// only beyond this value.

/** `limits.max_queue_bytes`: the most that may wait for an agent that does not read. The bench uses the default. */
const QUEUE_CAP_MB = 64;

const large = (name, frameMb) => [
  { what: `${name}: CPU, x raw`, atMost: 2, of: (v) => v(`large-${name}.ours.cpuMs`) / v(`large-${name}.raw.cpuMs`) },
  {
    what: `${name}: peak RSS over raw's, MB`,
    atMost: 2 * frameMb + 8,
    of: (v) => v(`large-${name}.ours.peakMb`) - v(`large-${name}.raw.peakMb`),
  },
];
/** A version without logs and transcripts has no variant `bare`. */
const bare = (v) => (Number.isNaN(v('burst.bare.cpuUs')) ? v('burst.ours.cpuUs') : v('burst.bare.cpuUs'));

/** A call of a host tool, x the same call to the same server over stdio. We may add 2x, so the limit is 3. */
const hostToolBy = (way) => (v) => v(`mcp-call.own-${way}.p50Us`) / v('mcp-call.own-direct.p50Us');

export const goals = [
  {
    id: 'G1',
    title: '200 B bursts',
    needs: ['burst'],
    checks: [
      { what: 'CPU without log and transcripts, x raw', atMost: 5, of: (v) => bare(v) / v('burst.raw.cpuUs') },
      { what: 'CPU with all defaults, x raw', atMost: 7, of: (v) => v('burst.ours.cpuUs') / v('burst.raw.cpuUs') },
    ],
  },
  {
    id: 'G2',
    title: 'single writes, warm',
    needs: ['single'],
    checks: [{ what: 'CPU, x naive', atMost: 0.65, of: (v) => v('single.ours.cpuUs') / v('single.naive.cpuUs') }],
  },
  {
    id: 'G3',
    title: 'single writes, cold process',
    needs: ['single'],
    checks: [
      {
        what: 'CPU of the first 20,000 frames, x raw',
        atMost: 4,
        heldAt: 6,
        of: (v) => v('single.ours.coldCpuMs') / v('single.raw.coldCpuMs'),
      },
    ],
  },
  {
    id: 'G4',
    title: 'large frames',
    needs: ['large-diff-1m', 'large-diff-8m', 'large-base64-1m', 'large-base64-8m'],
    checks: [...large('diff-1m', 1), ...large('diff-8m', 8), ...large('base64-1m', 1), ...large('base64-8m', 8)],
  },
  {
    id: 'G5',
    title: "round trips of an agent's requests",
    needs: ['roundtrip'],
    checks: [
      {
        what: 'p50 added, x what raw adds',
        atMost: 1.8,
        of: (v) => (v('roundtrip.ours.p50Us') - v('roundtrip.direct.p50Us')) / (v('roundtrip.raw.p50Us') - v('roundtrip.direct.p50Us')),
      },
    ],
  },
  {
    id: 'G6',
    title: 'round trips during 8 MB frames of another agent',
    needs: ['head-of-line'],
    checks: [{ what: 'p99, x naive', atMost: 0.4, of: (v) => v('head-of-line.ours.p99Ms') / v('head-of-line.naive.p99Ms') }],
  },
  {
    id: 'G7',
    title: 'many sessions',
    needs: ['sessions-4', 'sessions-1000'],
    checks: [
      {
        what: 'CPU at 1,000 sessions, x that at 4',
        atMost: 1.3,
        heldAt: 2.2,
        of: (v) => v('sessions-1000.ours.cpuUs') / v('sessions-4.ours.cpuUs'),
      },
    ],
  },
  {
    id: 'G8',
    title: 'a client that stops reading while 500 MB wait (then every frame is compared)',
    needs: ['stall-small', 'stall-large'],
    checks: [
      { what: '200 B frames: growth, MB', atMost: 16, of: (v) => v('stall-small.ours.growthMb') },
      { what: '1 MB frames: growth, MB', atMost: 16, of: (v) => v('stall-large.ours.growthMb') },
    ],
  },
  {
    id: 'G9',
    title: 'an agent that does not read',
    needs: ['stopped-reader'],
    checks: [
      {
        what: "another agent's p50, x undisturbed",
        atMost: 1.5,
        of: (v) => v('stopped-reader.ours.p50DuringUs') / v('stopped-reader.ours.p50BeforeUs'),
      },
      {
        what: `growth with a queue capped at ${QUEUE_CAP_MB} MB, MB`,
        atMost: 2 * QUEUE_CAP_MB,
        of: (v) => v('stopped-reader.ours.peakMb'),
      },
    ],
  },
  {
    id: 'G10',
    title: 'spawn to the answer to initialize, agent known',
    needs: ['start'],
    checks: [{ what: 'wall, x raw', atMost: 1.5, of: (v) => v('start.ours.wallMs') / v('start.raw.wallMs') }],
  },
  {
    id: 'G11',
    title: 'memory at rest',
    needs: ['memory'],
    checks: [
      { what: "idle RSS over raw's, MB", atMost: 8, of: (v) => v('memory.ours.idleMb') - v('memory.raw.idleMb') },
      { what: 'per idle session, kB', atMost: 2, of: (v) => v('memory.ours.perSessionKb') },
    ],
  },
  {
    id: 'G12',
    title: 'the metadata log on bursts',
    needs: ['burst'],
    feature: 'frame log',
    checks: [
      {
        what: 'CPU added, x raw',
        atMost: 2.5,
        of: (v) => (v('burst.logged.cpuUs') - v('burst.bare.cpuUs')) / v('burst.raw.cpuUs'),
      },
    ],
  },
  {
    id: 'G13',
    title: 'cheaper than a proxy built with a library',
    needs: ['burst'],
    checks: [
      { what: 'CPU of naive, x ours', atLeast: 2, of: (v) => v('burst.naive.cpuUs') / v('burst.ours.cpuUs') },
      { what: 'CPU of jsonrpc, x ours', atLeast: 5, of: (v) => v('burst.jsonrpc.cpuUs') / v('burst.ours.cpuUs') },
      { what: 'CPU of sdk, x ours', atLeast: 15, of: (v) => v('burst.sdk.cpuUs') / v('burst.ours.cpuUs') },
    ],
  },
  {
    id: 'G14',
    title: 'a call of a host tool',
    needs: ['mcp-call'],
    checks: [
      { what: 'p50 by the shim, x the call without us', atMost: 3, of: hostToolBy('stdio') },
      { what: 'p50 by the ACP connection, x the call without us', atMost: 3, of: hostToolBy('acp') },
    ],
  },
  {
    id: 'G15',
    title: 'the first 20,000 frames of a process',
    needs: ['cold-frames'],
    checks: [{ what: 'CPU, x naive', atMost: 1, heldAt: 1.5, of: (v) => v('cold-frames.ours.cpuMs') / v('cold-frames.naive.cpuMs') }],
  },
  {
    id: 'G16',
    title: 'the first 1 MB frame of a process',
    needs: ['cold-large'],
    checks: [{ what: 'CPU, x raw', atMost: 2, heldAt: 3.5, of: (v) => v('cold-large.ours.cpuMs') / v('cold-large.raw.cpuMs') }],
  },
  {
    id: 'G17',
    title: 'a sandbox (Linux with bubblewrap)',
    needs: ['sandbox'],
    checks: ['workspace', 'review'].flatMap((level) => [
      {
        what: `start of Node at ${level}, x outside`,
        atMost: 1.4,
        of: (v) => v(`sandbox.${level}.startMs`) / v('sandbox.outside.startMs'),
      },
      // The pipes are the agent's own, so this is noise.
      {
        what: `frames at ${level}, x outside`,
        atMost: 1,
        heldAt: 1.1,
        of: (v) => v(`sandbox.${level}.framesMs`) / v('sandbox.outside.framesMs'),
      },
    ]),
  },
  {
    id: 'G18',
    title: 'a second client of a session',
    needs: ['attach', 'burst'],
    checks: [
      {
        what: 'CPU per frame that it adds, x a burst with all defaults',
        atMost: 0.3,
        of: (v) => (v('attach.two.us') - v('attach.one.us')) / v('burst.ours.cpuUs'),
      },
    ],
  },
  {
    id: 'G19',
    title: 'WebSockets',
    needs: ['remote'],
    checks: [
      ...['client', 'agent'].flatMap((side) => [
        { what: `burst CPU, ${side} over WebSocket, x stdio`, atMost: 2.5, of: (v) => v(`remote.${side}.cpuUs`) / v('remote.stdio.cpuUs') },
        { what: `round trip, ${side} over WebSocket, x stdio`, atMost: 3, of: (v) => v(`remote.${side}.p50Us`) / v('remote.stdio.p50Us') },
      ]),
      { what: 'kB for each of 1,000 idle clients', atMost: 30, of: (v) => v('remote.client.idleKb') },
    ],
  },
  {
    id: 'G20',
    title: 'telemetry',
    needs: ['telemetry'],
    checks: [
      { what: 'CPU of bursts, on, x off', atMost: 1.1, of: (v) => v('telemetry.traced.cpuUs') / v('telemetry.ours.cpuUs') },
      // The same code runs, so this is noise.
      {
        what: 'CPU of bursts, disabled, x off',
        atMost: 1,
        heldAt: 1.05,
        of: (v) => v('telemetry.untraced.cpuUs') / v('telemetry.ours.cpuUs'),
      },
      {
        what: 'wall time of a turn, slow collector, x a fast one',
        atMost: 1,
        heldAt: 1.1,
        of: (v) => v('telemetry.traced-slow.turnWallUs') / v('telemetry.traced.turnWallUs'),
      },
    ],
  },
  {
    id: 'G21',
    title: 'a link over NATS',
    needs: ['bus'],
    checks: [
      {
        what: 'burst CPU of edge and host, x joined by a pipe',
        atMost: 2,
        heldAt: 3,
        of: (v) => v('bus.nats.cpuUs') / v('bus.pipe.cpuUs'),
      },
      { what: 'turn with one word, x joined by a pipe', atMost: 10, of: (v) => v('bus.nats.turnUs') / v('bus.pipe.turnUs') },
      {
        what: 'longest turn next to a 32 MB frame, over that with a pipe, ms',
        atMost: 50,
        of: (v) => v('bus.nats.stallMs') - v('bus.pipe.stallMs'),
      },
      { what: 'burst CPU over 200 sessions of two hosts, x one session', atMost: 3, of: (v) => v('bus.nats.manyUs') / v('bus.nats.cpuUs') },
    ],
  },
];

/**
 * The status of each goal. `results` is `{ workload: { variant: { metric: { best } } } }`; `features` names optional parts that exist.
 * A goal is missed when one of its checks is missed, met when all are met, `met in part` when some could not be measured, and
 * `not measured` when none could. `isHeld`: missed, but not beyond `heldAt`.
 */
export function evaluate(results, features = [], of = goals) {
  const value = (path) => {
    const [workload, variant, metric] = path.split('.');
    return results[workload]?.[variant]?.[metric]?.best ?? Number.NaN;
  };
  return of.map(({ id, title, needs, feature, checks }) => {
    const isThere = feature === undefined || features.includes(feature);
    const checked = checks.map(({ what, atMost, atLeast, heldAt = Number.NaN, of: figure }) => {
      const got = isThere ? figure(value) : Number.NaN;
      const limit = atMost ?? atLeast;
      const status = Number.isNaN(got) ? 'not measured' : (atMost !== undefined ? got <= limit : got >= limit) ? 'met' : 'missed';
      return { what, limit, sign: atMost !== undefined ? '<=' : '>=', got, status, isHeld: status === 'missed' && got <= heldAt };
    });
    // A proxy that lost or changed a frame has no figures, and misses the goal.
    const failed = isThere && needs.some((workload) => results[workload]?.ours?.failure !== undefined);
    const has = (status) => checked.some((check) => check.status === status);
    const met = has('not measured') ? 'met in part' : 'met';
    const status = !isThere ? 'not yet' : failed || has('missed') ? 'missed' : has('met') ? met : 'not measured';
    const isHeld = !failed && status === 'missed' && checked.every((check) => check.status !== 'missed' || check.isHeld);
    return { id, title, needs, status, failed, isHeld, checks: checked };
  });
}
