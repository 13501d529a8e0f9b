// Converts the schema of an elicitation to a form, and the form's values to the response content.
import { fields } from '../../json-object.ts';
import { type Field, problemWith, type Value } from '../protocol/form.ts';
import { type Fields, list, text } from './read-update.ts';

export type Form = {
  readonly fields: readonly Field[];
  /** The response content, or a problem. */
  answer(values: readonly (Value | null)[]): { readonly content: Fields } | { readonly problem: string };
};

type Read = { readonly name: string; readonly field: Field; readonly meant: (value: Exclude<Value, undefined>) => unknown };

const MOST_FIELDS = 100;
const MOST_CHOICES = 500;

/** undefined when no form can represent the schema. `clean` is for display; names and values stay the agent's own. */
export function readForm(schema: unknown, clean: (value: string) => string): Form | undefined {
  const { properties, required } = fields(schema);
  const needed = new Set(list(required));
  const named = Object.entries(fields(properties));
  const read = named.map(([name, property]) => readField(name, fields(property), needed.has(name), clean));
  if (named.length > MOST_FIELDS || named.some(([name], index) => read[index] === undefined && needed.has(name))) return undefined;
  const known = read.filter((one) => one !== undefined);
  return {
    fields: known.map(({ field }) => field),
    answer(values) {
      const content: [string, unknown][] = [];
      for (const [index, { name, field, meant }] of known.entries()) {
        const value = values[index] ?? undefined;
        const problem = problemWith(field, value);
        if (problem !== undefined) return { problem: `${field.title}: ${problem}` };
        if (value !== undefined && value !== '') content.push([name, meant(value)]);
      }
      // Entries, because a name may be `__proto__`.
      return { content: Object.fromEntries(content) };
    },
  };
}

function readField(name: string, property: Fields, isRequired: boolean, clean: (value: string) => string): Read | undefined {
  const { title, description, type, format, pattern } = property;
  const given = property.default;
  const about = {
    title: clean(text(title) ?? name),
    description: text(description) === undefined ? undefined : clean(String(description)),
    isRequired,
  };
  const as = (value: unknown) => value;
  switch (type) {
    case 'string': {
      const choices = choicesOf(property);
      if (choices) {
        const at = choices.findIndex(({ value }) => value === given);
        const names = choices.map((choice) => clean(choice.name));
        return {
          name,
          field: { ...about, kind: 'choice', choices: names, value: at === -1 ? undefined : at },
          meant: (chosen) => choices[chosen as number]?.value,
        };
      }
      const before = text(given) ?? '';
      const shown = clean(before);
      const hint = text(pattern) === undefined ? undefined : clean(String(pattern));
      const range = { min: numberOf(property.minLength), max: numberOf(property.maxLength) };
      return {
        name,
        field: { ...about, kind: 'text', format: text(format), hint, value: shown, ...range },
        // An unchanged default is returned exactly as the agent gave it, even if a part of it was hidden.
        meant: (typed) => (typed === shown ? before : typed),
      };
    }
    case 'number':
    case 'integer': {
      const range = { min: numberOf(property.minimum), max: numberOf(property.maximum) };
      return { name, field: { ...about, kind: 'number', isInteger: type === 'integer', value: numberOf(given), ...range }, meant: as };
    }
    case 'boolean':
      return { name, field: { ...about, kind: 'boolean', value: given === true }, meant: as };
    case 'array': {
      const choices = choicesOf(fields(property.items));
      if (!choices) return undefined;
      const wanted = new Set(list(given));
      const value = choices.flatMap((choice, at) => (wanted.has(choice.value) ? [at] : []));
      const range = { min: numberOf(property.minItems), max: numberOf(property.maxItems) };
      const names = choices.map((choice) => clean(choice.name));
      return {
        name,
        field: { ...about, kind: 'choices', choices: names, value, ...range },
        meant: (chosen) => (chosen as readonly number[]).map((at) => choices[at]?.value),
      };
    }
    default:
      return undefined;
  }
}

/** `enum`, with or without names, or constants with titles. */
function choicesOf(schema: Fields): readonly { readonly value: string; readonly name: string }[] | undefined {
  const titled = [...list(schema.oneOf), ...list(schema.anyOf)].map(fields);
  const plain = list(schema.enum);
  const names = list(schema.enumNames);
  const choices =
    titled.length > 0
      ? titled.map((one) => ({ value: String(one.const), name: text(one.title) ?? String(one.const) }))
      : plain.map((value, index) => ({ value: String(value), name: text(names[index]) ?? String(value) }));
  return choices.length === 0 || choices.length > MOST_CHOICES ? undefined : choices;
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
