// The tables of docs/configuration.md, generated from the JSON Schema: the option schemas in src/ are the only place that says what a key means.

export type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
};

/** The table of the keys at a place; `top` is the file itself. */
export function keyTable(schema: Schema, where: string): string {
  const rows = where === 'top' ? rowsOf(schema, false) : rowsOf(at(schema, where.split('.')), true);
  return ['| key | values | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** `agent_servers.NAME`: a word in capitals stands for any key; `routes[]` is an element of a list. */
function at(schema: Schema, [word = '', ...rest]: readonly string[]): Schema {
  const key = word.replace('[]', '');
  const found = /^[A-Z]+$/.test(key) ? schema.additionalProperties : schema.properties?.[key];
  const whole = word.endsWith('[]') && typeof found === 'object' ? found.items : found;
  // A value or an object: the table is about the object.
  const inner = typeof whole === 'object' ? (whole.anyOf?.find(({ properties }) => properties) ?? whole) : whole;
  if (typeof inner !== 'object') throw new Error(`the schema has no ${word}`);
  return rest.length === 0 ? inner : at(inner, rest);
}

/** A row for each key. Keys of a nested object are named by their path. */
function rowsOf({ properties = {}, required = [] }: Schema, isFlat: boolean, before = ''): string[] {
  return Object.entries(properties).flatMap(([key, value]) => {
    if (isFlat && value.properties !== undefined) return rowsOf(value, true, `${before}${key}.`);
    const standard = required.includes(key) ? 'required' : defaultOf(key, value);
    return `| \`${before}${key}\` | ${valuesOf(value)} | ${standard} | ${(value.description ?? '').replace(/\.$/, '').replaceAll('|', '\\|')} |`;
  });
}

const code = (value: unknown) => `\`${JSON.stringify(value)}\``;
const WORDS: Readonly<Record<string, string>> = { integer: 'whole number', boolean: '`true`, `false`', object: 'object' };

function valuesOf({ type = '', enum: values, const: only, anyOf, items, additionalProperties, properties }: Schema): string {
  if (only !== undefined) return code(only);
  if (values) return values.map(code).join(', ');
  if (anyOf) return anyOf.map(valuesOf).join(' or ');
  if (type === 'array') return items?.type === 'string' ? 'list of strings' : 'list';
  if (type === 'object' && properties === undefined && typeof additionalProperties === 'object')
    return additionalProperties.type === 'string' ? 'object of strings' : 'object';
  return WORDS[type] ?? type;
}

const MIB = 1024 * 1024;

function defaultOf(key: string, { default: value }: Schema): string {
  if (value === undefined) return '';
  if (!key.endsWith('_bytes') || typeof value !== 'number') return code(value);
  return `${code(value)} (${value >= 1024 * MIB ? `${value / MIB / 1024} GiB` : `${value / MIB} MiB`})`;
}
