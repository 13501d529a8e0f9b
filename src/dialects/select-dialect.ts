// How an agent speaks: its framing and its dialect, and which of them to try when nobody has said.

import type { Streams } from '../wire/byte-stream.ts';
import { bodiesFromLines, linesFromBodies } from '../wire/framing/content-length.ts';
import type { About } from './dialect.ts';
import { type Interpreted, interpret, type Surroundings } from './interpreter.ts';
import { type DialectName, dialectNamed, isDialectName } from './registry.ts';

export type Framing = 'ndjson' | 'content-length';
export type Tongue = { readonly framing: Framing; readonly dialect: DialectName };

/** As it stands in the configuration. */
export type TongueSetting = { readonly framing: Framing | 'auto'; readonly dialect: DialectName | 'auto' };

/** The configuration has been checked: that is what the cast rests on. */
export const settingOf = ({ framing, dialect }: { readonly framing: string; readonly dialect: string }): TongueSetting =>
  ({ framing, dialect }) as TongueSetting;

export const PLAIN: Tongue = { framing: 'ndjson', dialect: 'acp' };

export const isSame = (a: Tongue, b: Tongue): boolean => a.framing === b.framing && a.dialect === b.dialect;

export const isTongue = (value: unknown): value is Tongue => {
  const { framing, dialect } = (value ?? {}) as Partial<Tongue>;
  return (framing === 'ndjson' || framing === 'content-length') && isDialectName(dialect);
};

/** Agents that frame like language servers are, as far as is known, those of the web app; its dialect takes ACP as well. */
export const usualDialect = (framing: Framing): DialectName => (framing === 'content-length' ? 'webapp' : 'acp');

/** What to begin with: what is set, else what was found the last time, else lines of ACP. */
export function firstTongue({ framing, dialect }: TongueSetting, found: Tongue | undefined): Tongue {
  const known = found && isAllowed({ framing, dialect }, found) ? found : undefined;
  const chosen = framing === 'auto' ? (known?.framing ?? 'ndjson') : framing;
  return { framing: chosen, dialect: dialect === 'auto' ? (known?.dialect ?? usualDialect(chosen)) : dialect };
}

/** The other framing, for an agent that is silent; undefined when that is settled. */
export function otherFraming({ framing, dialect }: TongueSetting, tried: Tongue): Tongue | undefined {
  if (framing !== 'auto') return undefined;
  const other = tried.framing === 'ndjson' ? 'content-length' : 'ndjson';
  return { framing: other, dialect: dialect === 'auto' ? usualDialect(other) : dialect };
}

/** Whether a setting leaves room for a tongue. */
export const isAllowed = ({ framing, dialect }: TongueSetting, { framing: found, dialect: spoken }: Tongue): boolean =>
  (framing === 'auto' || framing === found) && (dialect === 'auto' || dialect === spoken);

/** Whether its sessions can share a process, and whether it can be told of MCP servers. */
export function traitsOf({ dialect }: Tongue): { readonly isolation: 'shared' | 'session'; readonly takesServers: boolean } {
  return dialectNamed(dialect) ?? { isolation: 'shared', takesServers: true };
}

/** The agent's streams as they would be if it spoke ACP in lines. For one that does they are the very same. */
export function translate(streams: Streams, { framing, dialect }: Tongue, about: About, around: Surroundings): Interpreted {
  const { fromAgent, toAgent } = streams;
  const lines =
    framing === 'ndjson' ? { fromAgent, toAgent } : { fromAgent: linesFromBodies(fromAgent), toAgent: bodiesFromLines(toAgent) };
  const spoken = dialectNamed(dialect);
  return spoken ? interpret(lines, spoken, about, around) : { ...lines, exited: () => {}, stop: () => {} };
}
