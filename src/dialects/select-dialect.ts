// How an agent speaks: its framing and its dialect, and which of them to try when nobody has said.
import type { Streams } from '../wire/byte-stream.ts';
import { bodiesFromLines, linesFromBodies, OUTSIDE } from '../wire/framing/content-length.ts';
import { agentkit } from './agentkit/agentkit.ts';
import type { About, Dialect } from './dialect.ts';
import { intercom } from './intercom/intercom.ts';
import { type Interpreted, interpret, type Surroundings } from './interpreter.ts';
import { webapp } from './webapp/webapp.ts';

// The dialects there are, by the names they have in the configuration. `acp` is what the rest of the program speaks, and needs none of this.
export const DIALECTS = { acp: undefined, agentkit, intercom, webapp } as const satisfies Readonly<Record<string, Dialect | undefined>>;

export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[];

export const isDialectName = (name: unknown): name is DialectName => typeof name === 'string' && Object.hasOwn(DIALECTS, name);

/** Undefined for ACP itself. */
export const dialectNamed = (name: DialectName): Dialect | undefined => DIALECTS[name];

export type Framing = 'ndjson' | 'content-length';
export type SelectedDialect = { readonly framing: Framing; readonly dialect: DialectName };

/** As it stands in the configuration. */
export type DialectSetting = { readonly framing: Framing | 'auto'; readonly dialect: DialectName | 'auto' };

/** The configuration has been checked: that is what the cast rests on. */
export const settingOf = ({ framing, dialect }: { readonly framing: string; readonly dialect: string }): DialectSetting =>
  ({ framing, dialect }) as DialectSetting;

export const PLAIN: SelectedDialect = { framing: 'ndjson', dialect: 'acp' };

export const isSame = (a: SelectedDialect, b: SelectedDialect): boolean => a.framing === b.framing && a.dialect === b.dialect;

export const isSelectedDialect = (value: unknown): value is SelectedDialect => {
  const { framing, dialect } = (value ?? {}) as Partial<SelectedDialect>;
  return (framing === 'ndjson' || framing === 'content-length') && isDialectName(dialect);
};

/** Agents that frame like language servers are, as far as is known, those of the web app; its dialect takes ACP as well. */
export const usualDialect = (framing: Framing): DialectName => (framing === 'content-length' ? 'webapp' : 'acp');

/** What to begin with: what is set, else what was found the last time, else lines of ACP. */
export function initialDialect({ framing, dialect }: DialectSetting, found: SelectedDialect | undefined): SelectedDialect {
  const known = found && isAllowed({ framing, dialect }, found) ? found : undefined;
  const chosen = framing === 'auto' ? (known?.framing ?? 'ndjson') : framing;
  return { framing: chosen, dialect: dialect === 'auto' ? (known?.dialect ?? usualDialect(chosen)) : dialect };
}

/** The other framing, for an agent that is silent; undefined when that is settled. */
export function otherFraming({ framing, dialect }: DialectSetting, tried: SelectedDialect): SelectedDialect | undefined {
  if (framing !== 'auto') return undefined;
  const other = tried.framing === 'ndjson' ? 'content-length' : 'ndjson';
  return { framing: other, dialect: dialect === 'auto' ? usualDialect(other) : dialect };
}

/** Whether a setting leaves room for a tongue. */
export const isAllowed = ({ framing, dialect }: DialectSetting, { framing: found, dialect: spoken }: SelectedDialect): boolean =>
  (framing === 'auto' || framing === found) && (dialect === 'auto' || dialect === spoken);

/** Whether its sessions can share a process, and whether it can be told of MCP servers. */
export function traitsOf({ dialect }: SelectedDialect): { readonly isolation: 'shared' | 'session'; readonly takesServers: boolean } {
  return dialectNamed(dialect) ?? { isolation: 'shared', takesServers: true };
}

/** The agent's streams as they would be if it spoke ACP in lines. For one that does they are the very same. */
export function translate(streams: Streams, { framing, dialect }: SelectedDialect, about: About, around: Surroundings): Interpreted {
  const { fromAgent, toAgent } = streams;
  const lines =
    framing === 'ndjson' ? { fromAgent, toAgent } : { fromAgent: linesFromBodies(fromAgent), toAgent: bodiesFromLines(toAgent) };
  const spoken = dialectNamed(dialect);
  return spoken ? interpret(lines, spoken, about, around) : { ...lines, exited: () => {}, stop: () => {} };
}

// How an agent speaks, told from its first words. Looked at only until it has answered initialize.
/** What an agent has said that is not an answer to initialize in the tongue it was read in. */
export type FirstOutput =
  | { readonly kind: 'noise'; readonly line: string }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'answer'; readonly result?: unknown; readonly error?: unknown };

const HEADER = /^\s*content-(length|type)\s*:/i;

/** The tongue that they are in, when the configuration leaves it open and it has not just been tried. */
export function recognise(setting: DialectSetting, tried: SelectedDialect, words: FirstOutput): SelectedDialect | undefined {
  const guess = guessOf(tried, words);
  if (!guess) return undefined;
  const wanted = { framing: guess.framing, dialect: setting.dialect === 'auto' ? guess.dialect : setting.dialect };
  return isAllowed(setting, wanted) && !isSame(wanted, tried) ? wanted : undefined;
}

function guessOf(tried: SelectedDialect, words: FirstOutput): SelectedDialect | undefined {
  if (words.kind === 'noise') {
    if (tried.framing === 'ndjson') return HEADER.test(words.line) ? inFraming('content-length') : undefined;
    return words.line.startsWith(`${OUTSIDE}{`) ? inFraming('ndjson') : undefined;
  }
  const name = DIALECT_NAMES.find((one) => {
    const dialect = dialectNamed(one);
    return words.kind === 'method' ? dialect?.isItsMethod?.(words.method) : dialect?.isItsAnswer?.(words);
  });
  return name && { ...tried, dialect: name };
}

const inFraming = (framing: Framing): SelectedDialect => ({ framing, dialect: usualDialect(framing) });
