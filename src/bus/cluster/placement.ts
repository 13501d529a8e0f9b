// Which host gets a session: no scheduler, two at random and the less loaded first. Pure.
import type { HostRecord } from './records.ts';

export type Wanted = {
  readonly agent: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Where the session was: its agent's state is there. */
  readonly preferred?: string | undefined;
};

/** The hosts to ask, in this order. `random` returns numbers from 0 up to 1. */
export function candidates(hosts: readonly HostRecord[], wanted: Wanted, random: () => number): readonly HostRecord[] {
  const fit = shuffled(
    hosts.filter((host) => !host.isDraining && offers(host, wanted)),
    random,
  );
  const [first, second, ...others] = fit;
  const pair = first && second && loadOf(second) < loadOf(first) ? [second, first] : fit.slice(0, 2);
  const ordered = [...pair, ...others];
  // A host that drains still has the agent's state of its sessions, but takes no new connection.
  const at = ordered.findIndex(({ host }) => host === wanted.preferred);
  if (at > 0) ordered.unshift(...ordered.splice(at, 1));
  return ordered;
}

/** Why there is no candidate: what people have to change. */
export function whyNone(hosts: readonly HostRecord[], { agent, labels }: Wanted): string {
  if (hosts.length === 0) return 'no host is on the bus';
  const withAgent = hosts.filter(({ agents }) => agents.includes(agent));
  if (withAgent.length === 0) return `no host offers agent "${agent}"`;
  const fit = withAgent.filter((host) => hasLabels(host, labels));
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  if (fit.length === 0) return `no host that offers agent "${agent}" has the labels ${wanted.join(', ')}`;
  return `every host that offers agent "${agent}" is draining: ${fit.map(({ host }) => host).join(', ')}`;
}

const loadOf = ({ load, capacity }: HostRecord): number => (capacity > 0 ? load / capacity : 1);

const offers = (host: HostRecord, { agent, labels }: Wanted): boolean => host.agents.includes(agent) && hasLabels(host, labels);

const hasLabels = (host: HostRecord, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(labels).every(([name, value]) => Object.hasOwn(host.labels, name) && host.labels[name] === value);

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const all = [...list];
  for (let k = all.length - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [all[k], all[other]] = [all[other] as T, all[k] as T];
  }
  return all;
}
