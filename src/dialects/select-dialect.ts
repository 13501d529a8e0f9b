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

// How an agent speaks, told from its first words. Looked at only until it has answered initialize.
/** What an agent has said that is not an answer to initialize in the tongue it was read in. */
export type FirstWords =
  | { readonly kind: 'noise'; readonly line: string }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'answer'; readonly result?: unknown; readonly error?: unknown };

const HEADER = /^\s*content-(length|type)\s*:/i;

/** The tongue that they are in, when the configuration leaves it open and it has not just been tried. */
export function recognise(setting: TongueSetting, tried: Tongue, words: FirstWords): Tongue | undefined {
  const guess = guessOf(tried, words);
  if (!guess) return undefined;
  const wanted = { framing: guess.framing, dialect: setting.dialect === 'auto' ? guess.dialect : setting.dialect };
  return isAllowed(setting, wanted) && !isSame(wanted, tried) ? wanted : undefined;
}

function guessOf(tried: Tongue, words: FirstWords): Tongue | undefined {
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

const inFraming = (framing: Framing): Tongue => ({ framing, dialect: usualDialect(framing) });
