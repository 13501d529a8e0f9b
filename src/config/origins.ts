// Every effective setting and its origin: a position in a file, or the default. References stay unresolved, so no secret passes through here.

import { fields } from '../json-object.ts';
import type { Layer, Placed } from './layer.ts';
import { type Document, type Path, showPath } from './problems.ts';
import { configJsonSchema } from './schema.ts';

export type Origin =
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'default' };
export type Setting = { readonly path: Path; readonly key: string; readonly value: unknown; readonly origin: Origin };

/** `documents` are the fully trusted files, the one with precedence last; `layer` holds the merged values. */
export function settingsOf(layer: Layer, documents: readonly Document[]): readonly Setting[] {
  const placed: readonly Placed[] = [...layer.agents.values(), ...(layer.defaultAgent ? [layer.defaultAgent] : []), ...others(documents)];
  const found = new Map(placed.flatMap((one) => leaves(one)).map((setting) => [setting.key, setting] as const));
  // Routes of several files form one list: the index refers to the merged list, not to the file.
  for (const [index, route] of layer.routes.entries())
    for (const setting of leaves(route, ['routes', index])) found.set(setting.key, setting);
  for (const { path, value } of defaults(configJsonSchema(), [...layer.agents.keys()]))
    if (!isSet(showPath(path), found)) found.set(showPath(path), { path, key: showPath(path), value, origin: { kind: 'default' } });
  // Each file's policy gets its own line.
  return [...found.values(), ...layer.policies.flatMap((policy) => leaves(policy))];
}

/** Whether the file sets this key or a key below it. */
const isSet = (key: string, found: ReadonlyMap<string, Setting>): boolean =>
  found.has(key) || [...found.keys()].some((one) => one.startsWith(`${key}.`));

const MERGED_ELSEWHERE = ['$schema', 'agent_servers', 'default_agent', 'routes', 'policy'];

/** Settings that layers override one by one. */
function others(documents: readonly Document[]): Placed[] {
  return documents.flatMap((document) =>
    Object.entries(fields(document.value)).flatMap(([key, value]) =>
      MERGED_ELSEWHERE.includes(key) ? [] : [{ document, path: [key], value }],
    ),
  );
}

/** Splits objects into their leaves; a list or an inline policy stays one value. */
function leaves({ document, path, value }: Placed, shown: Path = path): Setting[] {
  const isObject = fields(value) === value && Object.keys(fields(value)).length > 0;
  if (isObject && path[0] !== 'policy')
    return Object.entries(fields(value)).flatMap(([key, item]) => leaves({ document, path: [...path, key], value: item }, [...shown, key]));
  const { file, line, column } = document.problem(path, '');
  return [{ path: shown, key: showPath(shown), value, origin: { kind: 'file', file, line, column } }];
}

type Schema = {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema | boolean>> | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
};

function defaults(schema: Schema, agents: readonly string[], path: Path = []): { path: Path; value: unknown }[] {
  if (schema.default !== undefined) return [{ path, value: schema.default }];
  const inner = (next: Schema | boolean | undefined, key: string) =>
    typeof next === 'object' ? defaults(next, agents, [...path, key]) : [];
  if (path.length === 1 && path[0] === 'agent_servers') return agents.flatMap((name) => inner(schema.additionalProperties, name));
  return Object.entries(schema.properties ?? {}).flatMap(([key, next]) => inner(next, key));
}
