// Agent forms: fields, valid answers, and the response to the agent.
import { describe, expect, test } from 'vitest';
import { problemWith } from '../../../src/console/protocol/form.ts';
import { type Form, readForm } from '../../../src/console/state/form-schema.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', description: 'as it is said', minLength: 2, maxLength: 5, default: 'Ada' },
    mail: { type: 'string', format: 'email' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    share: { type: 'number', default: 0.5 },
    sure: { type: 'boolean', default: true },
    colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'], default: 'g' },
    size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, default: ['b'], minItems: 1, maxItems: 2 },
    more: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X!' }] } },
    odd: { type: 'object' },
  },
  required: ['name', 'colour'],
};
const form = (given: unknown = schema, clean = (words: string) => words) => readForm(given, clean) as Form;
const given = () => form().fields.map(({ value }) => value);

describe('a form', () => {
  test("has a field for everything it can ask, with the agent's defaults", () => {
    expect(form().fields.map(({ title, kind, isRequired, value }) => [title, kind, isRequired, value])).toEqual([
      ['Your name', 'text', true, 'Ada'],
      ['mail', 'text', false, ''],
      ['count', 'number', false, undefined],
      ['share', 'number', false, 0.5],
      ['sure', 'boolean', false, true],
      ['colour', 'choice', true, 1],
      ['size', 'choice', false, undefined],
      ['tags', 'choices', false, [1]],
      ['more', 'choices', false, []],
    ]);
    expect(form().fields[5]).toMatchObject({ choices: ['Red', 'Green'] });
  });

  test("is answered with the agent's names and values; empty fields are omitted", () => {
    expect(form().answer(given())).toEqual({
      content: { name: 'Ada', share: 0.5, sure: true, colour: 'g', tags: ['b'], more: [] },
    });
    expect(form().answer(['Bo', 'a@b', 3, null, false, 0, 0, [0, 2], [0]])).toEqual({
      content: { name: 'Bo', mail: 'a@b', count: 3, sure: false, colour: 'r', size: 's', tags: ['a', 'c'], more: ['x'] },
    });
  });

  test.each<[number, unknown, string]>([
    [0, '', 'Your name: This field is required.'],
    [0, null, 'Your name: This field is required.'],
    [0, 'A', 'Your name: This must be at least 2 characters.'],
    [0, 'Augusta', 'Your name: This must be at most 5 characters.'],
    [0, 7, 'Your name: This must be text.'],
    [1, 'nobody', 'mail: This must be an e-mail address.'],
    [2, 0, 'count: This must be at least 1.'],
    [2, 2.5, 'count: This must be a whole number.'],
    [2, 'two', 'count: This must be a number.'],
    [4, 'yes', 'sure: This must be yes or no.'],
    [5, 2, 'colour: Choose one of these.'],
    [7, [], 'tags: This must be at least 1 choice.'],
    [7, [0, 1, 2], 'tags: This must be at most 2 choices.'],
    [7, [9], 'tags: Choose among these.'],
  ])('field %i rejects %j', (at, value, problem) => {
    expect(form().answer(given().with(at, value as never))).toEqual({ problem });
  });

  test('what is shown is cleaned; an unchanged default is sent as it came', () => {
    const cleaned = form({ properties: { '\u202ekey': { type: 'string', default: 'my-secret' } } }, (words) =>
      words.replaceAll('my-secret', '[hidden]').replaceAll('\u202e', '⟨⟩'),
    );
    expect(cleaned.fields).toMatchObject([{ title: '⟨⟩key', value: '[hidden]' }]);
    expect(cleaned.answer(['[hidden]'])).toEqual({ content: { '\u202ekey': 'my-secret' } });
    expect(cleaned.answer(['mine'])).toEqual({ content: { '\u202ekey': 'mine' } });
  });

  test('that requires something no field can give cannot be answered; unusual names are only names', () => {
    expect(readForm({ properties: { odd: { type: 'object' } }, required: ['odd'] }, String)).toBeUndefined();
    expect(readForm(undefined, String)?.fields).toEqual([]);
    const odd = readForm(JSON.parse('{"properties":{"__proto__":{"type":"boolean"}}}'), String) as Form;
    expect(Object.entries((odd.answer([true]) as { content: object }).content)).toEqual([['__proto__', true]]);
  });

  test.each(['constructor', '__proto__', 'hasOwnProperty'])('text of the unknown format %s is plain text', (format) => {
    const field = { kind: 'text', title: 't', isRequired: false, value: '', format } as const;
    expect(problemWith(field, 'anything')).toBeUndefined();
  });

  test.each([
    ['uri', 'https://example.com', 'example'],
    ['date', '2026-11-30', '2026-13-01'],
    ['date-time', '2026-11-30T10:00:00Z', '2026-11-30'],
  ])('text of the format %s', (format, good, bad) => {
    const field = { kind: 'text', title: 't', isRequired: false, value: '', format } as const;
    expect(problemWith(field, good)).toBeUndefined();
    expect(problemWith(field, bad)).toContain('This must be');
  });
});
