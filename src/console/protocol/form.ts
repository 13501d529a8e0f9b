// An agent's form as the page shows it, and its validation, shared by page and server. Fields and choices go by index: their names are the
// agent's own and may be anything.

type About = {
  readonly title: string;
  readonly description?: string | undefined;
  readonly isRequired: boolean;
};
type Range = { readonly min?: number | undefined; readonly max?: number | undefined };

export type Field = About &
  (
    | ({ readonly kind: 'text'; readonly format?: string | undefined; readonly hint?: string | undefined; readonly value: string } & Range)
    | ({ readonly kind: 'number'; readonly isInteger: boolean; readonly value: number | undefined } & Range)
    | { readonly kind: 'boolean'; readonly value: boolean }
    | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly value: number | undefined }
    | ({ readonly kind: 'choices'; readonly choices: readonly string[]; readonly value: readonly number[] } & Range)
  );

/** undefined: left empty. */
export type Value = string | number | boolean | readonly number[] | undefined;

const FORMATS: Readonly<Record<string, { readonly isGood: (value: string) => boolean; readonly what: string }>> = {
  email: { isGood: (value) => /^[^\s@]{1,64}@[^\s@]{1,250}$/.test(value), what: 'an e-mail address' },
  uri: { isGood: (value) => URL.canParse(value), what: 'an address such as https://example.com' },
  date: { isGood: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)), what: 'a date such as 2026-11-30' },
  'date-time': {
    isGood: (value) => /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
    what: 'a date and a time such as 2026-11-30T12:00:00Z',
  },
};

/** A message for the user when the value is invalid. */
export function problemWith(field: Field, value: Value): string | undefined {
  if (value === undefined || value === '') return field.isRequired ? 'This field is required.' : undefined;
  switch (field.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'This must be yes or no.';
    case 'choice':
      return typeof value === 'number' && field.choices[value] !== undefined ? undefined : 'Choose one of these.';
    case 'choices': {
      if (!Array.isArray(value) || value.some((at) => field.choices[at] === undefined)) return 'Choose among these.';
      if (field.isRequired && value.length === 0) return 'Choose at least one.';
      return outOf(field, value.length, (count) => `${count} ${count === 1 ? 'choice' : 'choices'}`);
    }
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'This must be a number.';
      if (field.isInteger && !Number.isSafeInteger(value)) return 'This must be a whole number.';
      return outOf(field, value, String);
    }
    case 'text': {
      if (typeof value !== 'string') return 'This must be text.';
      const name = field.format ?? '';
      const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined; // the agent chooses the name, which could be `constructor`
      if (format && !format.isGood(value)) return `This must be ${format.what}.`;
      return outOf(field, [...value].length, (count) => `${count} ${count === 1 ? 'character' : 'characters'}`);
    }
  }
}

function outOf({ min, max }: Range, is: number, describe: (bound: number) => string): string | undefined {
  if (min !== undefined && is < min) return `This must be at least ${describe(min)}.`;
  return max !== undefined && is > max ? `This must be at most ${describe(max)}.` : undefined;
}
