// Reads values from another program: every access is checked, and unknown values stay unchanged.
import { type JsonObject as Dict, isObject } from '../json-object.ts';

export { fields as dict, isObject, type JsonObject as Dict, list, textOf as text } from '../json-object.ts';

export const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** A table entry for a name from outside; `constructor` is in no table. */
export function lookUp<V>(table: Readonly<Record<string, V>>, name: unknown): V | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The value of the first of the keys that is present. */
export function first(value: Dict, ...keys: readonly string[]): unknown {
  for (const key of keys) if (Object.hasOwn(value, key) && value[key] !== undefined) return value[key];
  return undefined;
}

/** Renames keys. If the new name already exists, the old key stays as it is. */
export function renamed(value: Dict, names: Readonly<Record<string, string>>): Dict {
  if (!Object.keys(value).some((key) => wanted(value, names, key) !== key)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wanted(value, names, key), inner]));
}

function wanted(value: Dict, names: Readonly<Record<string, string>>, key: string): string {
  const name = lookUp(names, key);
  return name === undefined || Object.hasOwn(value, name) ? key : name;
}

export function without(value: Dict, ...keys: readonly string[]): Dict {
  if (!keys.some((key) => Object.hasOwn(value, key))) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

export const camel = (key: string): string => key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Converts every key to camelCase at every depth, except inside `_meta`, which belongs to others. */
export function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => (key === '_meta' ? [key, inner] : [camel(key), camelKeys(inner)]));
  return Object.fromEntries(entries);
}

export function added<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value);
}

export function removed<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
