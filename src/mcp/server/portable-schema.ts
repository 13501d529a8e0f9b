// A tool's input schema as every model API takes it. Some agents pass a schema on as it is, and an API refuses the whole request for one that it
// does not support. The portable schema only tells the model what to send: arguments are validated against the original.
import { isObject } from '../../json-object.ts';
import type { JsonSchema } from './tool.ts';

/** Keywords that no API takes at the root. What they say about properties is merged into the root; the rest is left to the validation. */
const ROOT_ONLY = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'enum', 'const', 'dependentSchemas', 'dependentRequired'];
/**
 * Gemini's API answers 400 to a request with `$schema` (QwenLM/qwen-code#1186), with `$defs` (google-gemini/gemini-cli#13326) or with a `$ref` next to
 * other keywords (anomalyco/opencode#12295). Zed leaves out a tool with `$ref` (zed-industries/zed#60162).
 */
const DROPPED = new Set(['$schema', '$id', '$anchor', '$defs', 'definitions', '$comment', '$dynamicRef', '$dynamicAnchor', '$ref']);
/** Keywords whose value is one schema, a list of schemas, or a map of schemas. */
const SCHEMAS = new Set([
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
]);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf']);
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** The strictest rule for names of properties. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
/** References are replaced by their targets, and those may hold references again. */
const MAX_NODES = 2000;
const MAX_DEPTH = 24;

type Walk = { readonly root: JsonSchema; nodes: number };

export function portableSchema(schema: JsonSchema): JsonSchema {
  const walk: Walk = { root: schema, nodes: 0 };
  const inlined = inline(walk, schema, []);
  const merged = mergeRoot(isObject(inlined) ? inlined : {});
  const { type: _, properties, required, ...rest } = merged;
  const known = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string' && name in known) : [];
  return { type: 'object', properties: known, ...(needed.length > 0 && { required: needed }), ...rest };
}

/** Whether every model API takes it; else the first rule that it breaks. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  if (schema.type !== 'object') return 'its root is not of type object';
  const keyword = ROOT_ONLY.find((key) => key in schema);
  if (keyword !== undefined) return `${keyword} at its root`;
  return problemIn(schema);
}

function problemIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(problemIn).find((problem) => problem !== undefined);
  if (!isObject(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (DROPPED.has(key)) return `the keyword ${key}`;
    if (MAPS.has(key) && isObject(inner)) {
      const wrong = Object.entries(inner).find(([name, property]) => (key === 'properties' && !PROPERTY.test(name)) || !isObject(property));
      if (wrong) return `the property ${JSON.stringify(wrong[0])}`;
      for (const property of Object.values(inner)) {
        const problem = problemIn(property);
        if (problem !== undefined) return problem;
      }
    } else if (SCHEMAS.has(key) || LISTS.has(key)) {
      const problem = Array.isArray(inner) && !LISTS.has(key) ? `${key} is a list` : problemIn(inner);
      if (problem !== undefined) return problem;
    }
  }
  if (value.type === 'array' && !isObject(value.items)) return 'an array without items';
  return undefined;
}

/** Replaces references by their targets, and what APIs refuse at any depth. A recursive reference becomes a schema that accepts anything. */
function inline(walk: Walk, value: unknown, path: readonly string[]): unknown {
  if (value === true) return {};
  if (!isObject(value) || ++walk.nodes > MAX_NODES || path.length > MAX_DEPTH) return {};
  const reference = typeof value.$ref === 'string' ? value.$ref : undefined;
  const target = reference === undefined || path.includes(reference) ? undefined : targetOf(walk.root, reference);
  const own = Object.entries(value).flatMap(([key, inner]) => (DROPPED.has(key) ? [] : keyword(walk, key, inner, [...path, ''])));
  const found = target === undefined ? undefined : inline(walk, target, [...path, reference as string]);
  return withItems({ ...(isObject(found) ? found : {}), ...Object.fromEntries(own) });
}

function keyword(walk: Walk, key: string, inner: unknown, path: readonly string[]): [string, unknown][] {
  const each = (schema: unknown) => inline(walk, schema, path);
  if (key === 'prefixItems' || (key === 'items' && Array.isArray(inner)))
    return Array.isArray(inner) && inner.length > 0 ? [['items', { anyOf: inner.map(each) }]] : [];
  if (key === 'additionalProperties' && typeof inner === 'boolean') return [[key, inner]];
  if (SCHEMAS.has(key)) return [[key, each(inner)]];
  if (LISTS.has(key)) return Array.isArray(inner) && inner.length > 0 ? [[key, inner.map(each)]] : [];
  if (MAPS.has(key)) return isObject(inner) ? [[key, map(inner, key === 'properties', each)]] : [];
  if (key === 'required' && !Array.isArray(inner)) return []; // of draft 3
  return [[key, inner]];
}

const map = (schemas: Readonly<Record<string, unknown>>, isNamed: boolean, each: (schema: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) =>
      schema === false || (isNamed && !PROPERTY.test(name)) ? [] : [[name, each(schema)]],
    ),
  );

function withItems(schema: Record<string, unknown>): Record<string, unknown> {
  const isArray = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  return isArray && !isObject(schema.items) ? { ...schema, items: {} } : schema;
}

/** The target of `#`, `#/$defs/x` and the like; undefined for any other reference. */
function targetOf(root: JsonSchema, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponentSafely(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : Array.isArray(found) ? found[Number(key)] : undefined;
  }
  return found;
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Plain = Readonly<Record<string, unknown>>;

/** Merges the branches of the root into its properties. A property is required if the root, or every choice, requires it. */
function mergeRoot(schema: Plain, depth = 0): Plain {
  const list = (key: string) => (Array.isArray(schema[key]) ? schema[key].filter(isObject) : []);
  const flat = (branches: readonly Plain[]) => (depth > MAX_DEPTH ? [] : branches.map((branch) => mergeRoot(branch, depth + 1)));
  const all = flat(list('allOf'));
  const choices = [flat(list('anyOf')), flat(list('oneOf'))].filter((branches) => branches.length > 0);
  const conditions = flat(
    [schema.then, schema.else, ...Object.values(isObject(schema.dependentSchemas) ? schema.dependentSchemas : {})].filter(isObject),
  );
  const branches = [...all, ...choices.flat(), ...conditions];
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !ROOT_ONLY.includes(key)));
  if (branches.length === 0) return rest;
  const properties: Record<string, unknown> = {};
  for (const branch of branches) {
    for (const [name, property] of Object.entries(isObject(branch.properties) ? branch.properties : {}))
      properties[name] = name in properties ? either(properties[name], property) : property;
  }
  const required = [requiredBy(schema), ...all.map(requiredBy), ...choices.map((one) => common(one.map(requiredBy)))].flat();
  const own = isObject(schema.properties) ? schema.properties : {};
  // `additionalProperties` may exclude a property that only a branch has.
  const { additionalProperties, ...open } = rest;
  const isKept = additionalProperties !== undefined && Object.keys(properties).every((name) => Object.hasOwn(own, name));
  return {
    ...open,
    ...(isKept && { additionalProperties }),
    properties: { ...properties, ...own },
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

const requiredBy = ({ required }: Plain): readonly string[] => (Array.isArray(required) ? required.map(String) : []);
const common = ([first = [], ...others]: readonly (readonly string[])[]): readonly string[] =>
  first.filter((name) => others.every((other) => other.includes(name)));

/** Constants of several branches, such as the kinds of a union, become one enum. */
function either(a: unknown, b: unknown): unknown {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const values = [a, b].map(constantsOf);
  if (values.every((one) => one !== undefined)) {
    const { const: _, enum: __, ...rest } = a as Plain;
    return { ...rest, enum: [...new Set(values.flat())] };
  }
  const choices = (schema: unknown) =>
    isObject(schema) && Array.isArray(schema.anyOf) && Object.keys(schema).length === 1 ? schema.anyOf : [schema];
  return { anyOf: [...choices(a), ...choices(b)] };
}

function constantsOf(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined;
  return Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
}

/** A required argument under a name that no model API takes: the tool cannot be called. */
export const unusableArgument = (schema: JsonSchema): string | undefined => requiredBy(schema).find((name) => !PROPERTY.test(name));

/** What the model should know besides the portable schema: which arguments a call must have. */
export function choiceText(schema: JsonSchema): string | undefined {
  const texts = (['anyOf', 'oneOf'] as const).flatMap((key) => {
    const branches = schema[key];
    if (!Array.isArray(branches)) return [];
    const lists = branches.map((branch) => (isObject(branch) ? requiredBy(branch) : []));
    if (lists.length < 2 || lists.some((list) => list.length === 0)) return [];
    const named = lists.map((list) => list.map((name) => `\`${name}\``).join(' with '));
    return [`${key === 'oneOf' ? 'Needs exactly one of' : 'Needs at least one of'}: ${[...new Set(named)].join(', ')}.`];
  });
  return texts.length === 0 ? undefined : texts.join(' ');
}
