// The variants: no proxy, the lower bounds, the switchboard, proxies built with libraries, and the peers in BENCH_PEERS.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.dirname(bench);

/**
 * `command` returns how to start a variant with a list of agent commands (each a list of arguments), in its own directory.
 * `share` is the part of a workload's frames that a slow variant gets, so that it does not take most of the time.
 */
export function createVariants(load, workDir, collectors) {
  const reference = (file) => (agents) => [process.execPath, path.join(bench, 'proxies', file), JSON.stringify(agents)];
  const switchboard = snapshot(workDir);
  const start = (config) => [process.execPath, switchboard, 'acp', '--config', config];
  const ours = (extra = {}) => ({
    several: true,
    start,
    command: (agents, dir) => start(configFile(dir, agents, extra)),
  });
  const traced = (endpoint, before = []) => {
    const one = ours({ telemetry: { traces: { endpoint } } });
    return { ...one, command: (...about) => [...before, ...one.command(...about)] };
  };
  const variants = {
    direct: { title: 'no proxy', isNoProxy: true, command: ([agent]) => agent },
    ...(load.hasRelay && { relay: { title: 'C relay', command: ([agent]) => [...load.command, 'relay', '--', ...agent] } }),
    raw: { title: 'Node byte pipe', command: reference('raw.mjs') },
    ours: { title: 'switchboard', ...ours() },
    uncached: { title: 'switchboard, agent unknown', ...ours() },
    four: {
      title: 'switchboard, four agents configured',
      command: (agents, dir) =>
        ours().command(
          [0, 1, 2, 3].map((n) => [...agents[0].slice(0, -1), `a${n}`]),
          dir,
        ),
    },
    ...(hasSetting('log', 'store') && {
      bare: { title: 'switchboard, no log, no transcripts', ...ours({ log: { frames: 'off' }, store: { transcripts: false } }) },
      logged: { title: 'switchboard, metadata log only', ...ours({ log: { frames: 'metadata' }, store: { transcripts: false } }) },
    }),
    ...(hasSetting('telemetry') && {
      untraced: { title: 'switchboard, telemetry disabled', ...traced(collectors.fast, ['env', 'OTEL_SDK_DISABLED=true']) },
      traced: { title: 'switchboard, telemetry on', ...traced(collectors.fast) },
      'traced-slow': { title: 'switchboard, telemetry on, slow collector', ...traced(collectors.slow) },
    }),
    naive: { title: 'JSON.parse, JSON.stringify', several: true, command: reference('naive.mjs') },
    jsonrpc: { title: 'vscode-jsonrpc', several: true, share: 0.4, command: reference('jsonrpc.mjs') },
    sdk: { title: 'ACP SDK', several: true, share: 0.2, layout: 'sdk', command: reference('sdk.mjs') },
  };
  if (!isInstalled('vscode-jsonrpc/node')) {
    console.error('bench: vscode-jsonrpc is not installed, so the variant "jsonrpc" is left out');
    delete variants.jsonrpc;
  }
  return { ...variants, ...peers(process.env.BENCH_PEERS) };
}

/** A build in this tree must not change the program while it is measured. */
function snapshot(workDir) {
  const to = path.join(workDir, 'switchboard');
  const program = path.join(to, 'bin', 'switchboard.js');
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      for (const part of ['bin', 'config', 'dist', 'package.json']) cpSync(path.join(root, part), path.join(to, part), { recursive: true });
      if (spawnSync(process.execPath, [program, 'acp', '--help']).status === 0) return program;
    } catch {} // a build is replacing the files
    rmSync(to, { recursive: true, force: true });
    spawnSync('sleep', ['1']);
  }
  throw new Error('no build found: run "npm run build" first');
}

function configFile(dir, agents, extra) {
  const servers = agents.map(([command, ...args], index) => [`a${index}`, { command, args }]);
  const file = path.join(dir, 'switchboard.json');
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, JSON.stringify({ agent_servers: Object.fromEntries(servers), ...extra }));
  return file;
}

/** Whether this version has the settings, by the published schema. */
export function hasSetting(...keys) {
  const { properties } = JSON.parse(readFileSync(path.join(root, 'config', 'switchboard.schema.json'), 'utf8'));
  return keys.every((key) => key in properties);
}

function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * `name=command;name=command`. The agent's command replaces `{agent}`, or is appended. `{agents}` is the JSON that the reference proxies
 * take. `{config}` is a configuration file, for another build of the switchboard. `name@sdk=…` is a peer built on the ACP SDK, which
 * writes the members of an update in its own order.
 */
export function peers(text = '') {
  const entries = text.split(';').flatMap((entry) => {
    const [, name, layout, command] = /^\s*([\w.-]+)(?:@(\w+))?\s*=\s*(.+?)\s*$/.exec(entry) ?? [];
    if (name === undefined) return [];
    const words = command.split(/\s+/);
    const several = words.some((word) => word === '{agents}' || word === '{config}');
    const fill = (agents, dir) => {
      const filled = words.flatMap((word) => {
        if (word === '{agent}') return agents[0];
        if (word === '{agents}') return [JSON.stringify(agents)];
        return word === '{config}' ? [configFile(dir, agents, {})] : [word];
      });
      return several || words.includes('{agent}') ? filled : [...filled, ...agents[0]];
    };
    // Another build of the switchboard gets as many frames as this one.
    const share = words.includes('{config}') ? 1 : 0.2;
    return [[name, { title: `peer ${name}`, isPeer: true, several, share, ...(layout && { layout }), command: fill }]];
  });
  return Object.fromEntries(entries);
}
