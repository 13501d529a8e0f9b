// Selects the framing and the dialect of an agent: from the configuration, from the last run, or from its first output.
import type { Streams } from '../wire/byte-stream.ts';
import { bodiesFromLines, linesFromBodies, OUTSIDE } from '../wire/framing/content-length.ts';
import { agentkit } from './agentkit/agentkit.ts';
import type { About, Dialect } from './dialect.ts';
import { intercom } from './intercom/intercom.ts';
import { type Interpreted, interpret, type Surroundings } from './interpreter.ts';
import { webapp } from './webapp/webapp.ts';

// The dialects by their names in the configuration. `acp` needs no translation.
export const DIALECTS = { acp: undefined, agentkit, intercom, webapp } as const satisfies Readonly<Record<string, Dialect | undefined>>;

export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[];

export const isDialectName = (name: unknown): name is DialectName => typeof name === 'string' && Object.hasOwn(DIALECTS, name);

/** Undefined for ACP itself. */
export const dialectNamed = (name: DialectName): Dialect | undefined => DIALECTS[name];

export type Framing = 'ndjson' | 'content-length';
export type SelectedDialect = { readonly framing: Framing; readonly dialect: DialectName };

/** As configured. */
export type DialectSetting = { readonly framing: Framing | 'auto'; readonly dialect: DialectName | 'auto' };

/** The configuration is validated, so the cast is safe. */
export const settingOf = ({ framing, dialect }: { readonly framing: string; readonly dialect: string }): DialectSetting =>
  ({ framing, dialect }) as DialectSetting;

export const PLAIN: SelectedDialect = { framing: 'ndjson', dialect: 'acp' };

export const isSame = (a: SelectedDialect, b: SelectedDialect): boolean => a.framing === b.framing && a.dialect === b.dialect;

export const isSelectedDialect = (value: unknown): value is SelectedDialect => {
  const { framing, dialect } = (value ?? {}) as Partial<SelectedDialect>;
  return (framing === 'ndjson' || framing === 'content-length') && isDialectName(dialect);
};

/** All known agents that frame like language servers are those of the web app; its dialect accepts ACP as well. */
export const usualDialect = (framing: Framing): DialectName => (framing === 'content-length' ? 'webapp' : 'acp');

/** Where to start: the configured dialect, else the one found last time, else ACP in lines. */
export function initialDialect({ framing, dialect }: DialectSetting, found: SelectedDialect | undefined): SelectedDialect {
  const known = found && isAllowed({ framing, dialect }, found) ? found : undefined;
  const chosen = framing === 'auto' ? (known?.framing ?? 'ndjson') : framing;
  return { framing: chosen, dialect: dialect === 'auto' ? (known?.dialect ?? usualDialect(chosen)) : dialect };
}

/** The other framing, for an agent that stays silent; undefined if the framing is configured. */
export function otherFraming({ framing, dialect }: DialectSetting, tried: SelectedDialect): SelectedDialect | undefined {
  if (framing !== 'auto') return undefined;
  const other = tried.framing === 'ndjson' ? 'content-length' : 'ndjson';
  return { framing: other, dialect: dialect === 'auto' ? usualDialect(other) : dialect };
}

/** Whether the configuration permits a dialect. */
export const isAllowed = ({ framing, dialect }: DialectSetting, { framing: found, dialect: spoken }: SelectedDialect): boolean =>
  (framing === 'auto' || framing === found) && (dialect === 'auto' || dialect === spoken);

/** Whether its sessions can share a process, and whether it accepts MCP servers. */
export function traitsOf({ dialect }: SelectedDialect): { readonly isolation: 'shared' | 'session'; readonly takesServers: boolean } {
  return dialectNamed(dialect) ?? { isolation: 'shared', takesServers: true };
}

/** The agent's streams as if it spoke ACP in lines. An agent that does gets its own streams back. */
export function translate(streams: Streams, { framing, dialect }: SelectedDialect, about: About, around: Surroundings): Interpreted {
  const { fromAgent, toAgent } = streams;
  const lines =
    framing === 'ndjson' ? { fromAgent, toAgent } : { fromAgent: linesFromBodies(fromAgent), toAgent: bodiesFromLines(toAgent) };
  const spoken = dialectNamed(dialect);
  return spoken ? interpret(lines, spoken, about, around) : { ...lines, exited: () => {}, stop: () => {} };
}

// Output before a valid answer to initialize, from which the dialect is detected.
export type FirstOutput =
  | { readonly kind: 'noise'; readonly line: string }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'answer'; readonly result?: unknown; readonly error?: unknown };

const HEADER = /^\s*content-(length|type)\s*:/i;

/** The dialect of that output, if the configuration permits it and it was not just tried. */
export function recognise(setting: DialectSetting, tried: SelectedDialect, output: FirstOutput): SelectedDialect | undefined {
  const guess = guessOf(tried, output);
  if (!guess) return undefined;
  const wanted = { framing: guess.framing, dialect: setting.dialect === 'auto' ? guess.dialect : setting.dialect };
  return isAllowed(setting, wanted) && !isSame(wanted, tried) ? wanted : undefined;
}

function guessOf(tried: SelectedDialect, output: FirstOutput): SelectedDialect | undefined {
  if (output.kind === 'noise') {
    if (tried.framing === 'ndjson') return HEADER.test(output.line) ? inFraming('content-length') : undefined;
    return output.line.startsWith(`${OUTSIDE}{`) ? inFraming('ndjson') : undefined;
  }
  const name = DIALECT_NAMES.find((one) => {
    const dialect = dialectNamed(one);
    return output.kind === 'method' ? dialect?.isTypicalMethod?.(output.method) : dialect?.isTypicalAnswer?.(output);
  });
  return name && { ...tried, dialect: name };
}

const inFraming = (framing: Framing): SelectedDialect => ({ framing, dialect: usualDialect(framing) });
