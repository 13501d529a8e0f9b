// What is measured: no proxy at all, the bounds, ourselves, what others would build, and any peer named in BENCH_PEERS.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.dirname(bench);

/**
 * Each variant says how it is started for a list of agent commands (a list of words each), in a directory of its own.
 * `share` is the part of a workload's frames that a slow one gets, so that it does not take all the time there is.
 */
export function createVariants(load, workDir) {
  const reference = (file) => (agents) => [process.execPath, path.join(bench, 'proxies', file), JSON.stringify(agents)];
  const switchboard = snapshot(workDir);
  const start = (config) => [process.execPath, switchboard, 'acp', '--config', config];
  const ours = (extra = {}) => ({
    several: true,
    start,
    command: (agents, dir) => start(configFile(dir, agents, extra)),
  });
  const variants = {
    direct: { title: 'no proxy', isNoProxy: true, command: ([agent]) => agent },
    ...(load.hasRelay && { relay: { title: 'C relay', command: ([agent]) => [...load.command, 'relay', '--', ...agent] } }),
    raw: { title: 'Node byte pipe', command: reference('raw.mjs') },
    ours: { title: 'switchboard', ...ours() },
    uncached: { title: 'switchboard, agent not met before', ...ours() },
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

/** Somebody may build in this tree while we measure; what is measured must be whole, and must not change under us. */
function snapshot(workDir) {
  const to = path.join(workDir, 'switchboard');
  const program = path.join(to, 'bin', 'switchboard.js');
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      for (const part of ['bin', 'dist', 'package.json']) cpSync(path.join(root, part), path.join(to, part), { recursive: true });
      if (spawnSync(process.execPath, [program, 'acp', '--help']).status === 0) return program;
    } catch {} // files come and go while it is being built
    rmSync(to, { recursive: true, force: true });
    spawnSync('sleep', ['1']);
  }
  throw new Error('there is no build to measure: run "npm run build" first');
}

function configFile(dir, agents, extra) {
  const servers = agents.map(([command, ...args], index) => [`a${index}`, { command, args }]);
  const file = path.join(dir, 'switchboard.json');
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, JSON.stringify({ agent_servers: Object.fromEntries(servers), ...extra }));
  return file;
}

/** Features come one after the other; the published schema says whether this version has them. */
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
 * `name=command;name=command`. The agent's command is put in place of `{agent}` (one word per word) or else at the end. `{agents}` stands
 * for the JSON that our reference proxies take, `{config}` for a configuration of ours, as for another build of the switchboard.
 * `name@sdk=…` for a peer built on the ACP SDK, which writes the members of an update in an order of its own.
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
    // Another build of the switchboard is measured as we are.
    const share = words.includes('{config}') ? 1 : 0.2;
    return [[name, { title: `peer ${name}`, isPeer: true, several, share, ...(layout && { layout }), command: fill }]];
  });
  return Object.fromEntries(entries);
}
