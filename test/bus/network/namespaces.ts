// Machines on a network of their own: a network namespace for each, with a cable to a bridge in one more. Nothing of it is visible on the
// real network of this machine. Needs root.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

export type Machine = {
  readonly name: string;
  readonly address: string;
  /** A command line that runs in this machine. The process keeps its id. */
  command(...words: readonly string[]): readonly [string, ...string[]];
  pids(): readonly number[];
  /** Sends a signal to every process of this machine. */
  signal(signal: NodeJS.Signals): void;
  /** Unplugs the cable, without a word to anyone. */
  cut(): void;
  join(): void;
};

export type Network = {
  readonly machines: ReadonlyMap<string, Machine>;
  /** Ends every process in it, and removes it. */
  remove(): void;
};

const SUBNET = '10.79.0';

export function createNetwork(names: readonly string[]): Network {
  const prefix = `sb${randomBytes(3).toString('hex')}`;
  const bridge = `${prefix}-bridge`;
  const made: string[] = [];
  const ip = (...args: readonly string[]): string => execFileSync('ip', args, { encoding: 'utf8' });
  const add = (namespace: string) => {
    ip('netns', 'add', namespace);
    made.push(namespace);
  };
  const machines = new Map<string, Machine>();

  function remove(): void {
    for (const machine of machines.values()) machine.signal('SIGKILL');
    for (const namespace of made) ip('netns', 'del', namespace);
  }
  try {
    add(bridge);
    ip('-n', bridge, 'link', 'add', 'bridge', 'type', 'bridge');
    ip('-n', bridge, 'link', 'set', 'bridge', 'up');
    for (const [index, name] of names.entries()) machines.set(name, connected(name, `${SUBNET}.${index + 1}`));
  } catch (error) {
    remove();
    throw error;
  }
  return { machines, remove };

  function connected(name: string, address: string): Machine {
    const namespace = `${prefix}-${name}`;
    const port = `to-${name}`;
    add(namespace);
    ip('-n', bridge, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
    ip('-n', bridge, 'link', 'set', port, 'master', 'bridge', 'up');
    const pids = () => ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number);
    return {
      name,
      address,
      pids,
      command: (...words) => ['ip', 'netns', 'exec', namespace, ...words],
      signal(signal) {
        for (const pid of pids()) kill(pid, signal);
      },
      cut: () => void ip('-n', bridge, 'link', 'set', port, 'down'),
      join: () => void ip('-n', bridge, 'link', 'set', port, 'up'),
    };
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Ended meanwhile.
  }
}
