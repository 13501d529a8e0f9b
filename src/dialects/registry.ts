// The dialects there are, by the names they have in the configuration. `acp` is what the rest of the program speaks, and needs none of this.
import { agentkit } from './agentkit/agentkit.ts';
import type { Dialect } from './dialect.ts';
import { intercom } from './intercom/intercom.ts';
import { webapp } from './webapp/webapp.ts';

export const DIALECTS = { acp: undefined, agentkit, intercom, webapp } as const satisfies Readonly<Record<string, Dialect | undefined>>;

export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[];

export const isDialectName = (name: unknown): name is DialectName => typeof name === 'string' && Object.hasOwn(DIALECTS, name);

/** Undefined for ACP itself. */
export const dialectNamed = (name: DialectName): Dialect | undefined => DIALECTS[name];
