// Tools as every model API takes them: an API refuses the whole request of an agent for one tool that it does not support.
import { fromJsonSchema } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { choiceText, portableSchema, schemaProblem, unusableArgument } from '../../../src/mcp/server/portable-schema.ts';
import { portableName, portableTool, toolProblem } from '../../../src/mcp/server/portable-tool.ts';
import type { JsonSchema } from '../../../src/mcp/server/tool.ts';
import { allTools } from '../../../src/mcp/tools/builtin-tools.ts';
import fc from '../../generated.ts';

test.each(allTools.map((tool) => [tool.name, tool] as const))('every model API takes the host tool %s', (_, tool) => {
  expect(toolProblem(portableTool(tool))).toBeUndefined();
  expect(portableTool(tool).name).toBe(tool.name);
});

test('a search needs a name or a text, which its description says and its own schema still demands', () => {
  const search = allTools.find(({ name }) => name === 'search_files');
  if (!search) throw new Error('no such tool');
  expect(portableTool(search).description).toMatch(/Needs at least one of: `name`, `text`\.$/);
  expect(valid(search.inputSchema, {})).toBe(false);
  expect(valid(search.inputSchema, { text: 'x' })).toBe(true);
});

const valid = (schema: JsonSchema, value: unknown): boolean =>
  (fromJsonSchema(schema)['~standard'].validate(value) as { issues?: unknown }).issues === undefined;

const text = { type: 'string' };

describe('a schema', () => {
  test('that is portable stays as it is', () => {
    const schema = { type: 'object', properties: { a: text, b: { anyOf: [text, { type: 'null' }] } }, required: ['a'] };
    expect(portableTool({ name: 'x', description: '', inputSchema: schema }).inputSchema).toBe(schema);
  });

  test.each<[string, JsonSchema, JsonSchema]>([
    ['without a type', {}, { type: 'object', properties: {} }],
    ['with several types', { type: ['object', 'null'], properties: { a: text } }, { type: 'object', properties: { a: text } }],
    [
      'whose root is a choice',
      {
        type: 'object',
        anyOf: [
          { properties: { a: text }, required: ['a'] },
          { properties: { b: text }, required: ['b'] },
        ],
      },
      { type: 'object', properties: { a: text, b: text } },
    ],
    [
      'whose choices have something in common',
      {
        oneOf: [
          { properties: { kind: { const: 'a' }, a: text }, required: ['kind', 'a'] },
          { properties: { kind: { const: 'b' }, a: { type: 'number' } }, required: ['kind'] },
        ],
      },
      { type: 'object', properties: { kind: { enum: ['a', 'b'] }, a: { anyOf: [text, { type: 'number' }] } }, required: ['kind'] },
    ],
    [
      'that is made of parts',
      { allOf: [{ properties: { a: text }, required: ['a'] }, { $ref: '#/$defs/more' }], $defs: { more: { properties: { b: text } } } },
      { type: 'object', properties: { a: text, b: text }, required: ['a'] },
    ],
    [
      'with a condition',
      { type: 'object', properties: { a: text }, if: { required: ['a'] }, else: { properties: { b: text }, required: ['b'] } },
      { type: 'object', properties: { b: text, a: text } },
    ],
    [
      'that is closed, with conditions on its own properties only',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { a: text, b: text },
        allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
        if: { required: ['a'] },
        else: { properties: { b: { minLength: 1 } } },
        additionalProperties: false,
      },
      { type: 'object', properties: { a: text, b: text }, additionalProperties: false },
    ],
    [
      'that is closed, with a property of a part',
      { type: 'object', properties: { a: text }, anyOf: [{ properties: { b: text } }], additionalProperties: false },
      { type: 'object', properties: { a: text, b: text } },
    ],
    ['with a reference', { properties: { a: { $ref: '#/$defs/t' } }, $defs: { t: text } }, { type: 'object', properties: { a: text } }],
    [
      'that refers to itself',
      { type: 'object', properties: { child: { $ref: '#' }, name: text } },
      { type: 'object', properties: { child: { type: 'object', properties: { child: {}, name: text } }, name: text } },
    ],
    [
      'with a reference to elsewhere',
      { properties: { a: { $ref: 'https://example.com/schema.json' } } },
      { type: 'object', properties: { a: {} } },
    ],
    [
      'with lists of any or of certain things',
      { properties: { a: { type: 'array' }, b: { type: 'array', items: [text, { type: 'number' }] } } },
      {
        type: 'object',
        properties: { a: { type: 'array', items: {} }, b: { type: 'array', items: { anyOf: [text, { type: 'number' }] } } },
      },
    ],
    [
      'with properties that are true, false or have odd names',
      { properties: { a: true, b: false, 'über uns': text, c: text }, required: ['c'] },
      { type: 'object', properties: { a: {}, c: text }, required: ['c'] },
    ],
  ])('%s becomes portable', (_, schema, wanted) => {
    expect(portableSchema(schema)).toEqual(wanted);
    expect(schemaProblem(portableSchema(schema))).toBeUndefined();
  });

  test('that doubles at every reference stays small', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `d${n}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } },
      ]),
    );
    expect(JSON.stringify(portableSchema({ $ref: '#/$defs/d0', $defs })).length).toBeLessThan(200_000);
  });

  test('that requires an argument under an unusable name makes the tool unusable', () => {
    expect(unusableArgument({ properties: { 'a b': text }, required: ['a b'] })).toBe('a b');
    expect(unusableArgument({ properties: { 'a b': text } })).toBeUndefined();
  });
});

/** Schemas with everything that tools in the field use, and some arguments that satisfy each. */
const leaf = fc.oneof(
  fc.constant({ schema: text, value: 'x' }),
  fc.constant({ schema: { type: 'integer', minimum: 0 }, value: 3 }),
  fc.constant({ schema: { type: 'array' }, value: [1, 'a'] }),
  fc.constant({ schema: { enum: ['on', 'off'] }, value: 'on' }),
  fc.constant({ schema: { $ref: '#/$defs/node' }, value: { next: { next: {} } } }),
);
const members = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), leaf, { minKeys: 1 });
const branch = fc.tuple(members, fc.boolean()).map(([found, isRequired]) => ({
  schema: {
    type: 'object',
    properties: Object.fromEntries(Object.entries(found).map(([name, one]) => [name, one.schema])),
    ...(isRequired && { required: Object.keys(found) }),
  },
  value: Object.fromEntries(Object.entries(found).map(([name, one]) => [name, one.value])),
}));
const anySchema = fc
  .tuple(fc.constantFrom('anyOf', 'oneOf', 'allOf', 'none'), fc.array(branch, { minLength: 1, maxLength: 3 }), branch, fc.boolean())
  .map(([keyword, branches, root, isNested]) => {
    const choice =
      keyword === 'none'
        ? {}
        : { [keyword]: isNested ? [{ [keyword]: branches.map(({ schema }) => schema) }] : branches.map(({ schema }) => schema) };
    const schema: JsonSchema = {
      ...root.schema,
      ...choice,
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    };
    return { schema, values: [...branches.map(({ value }) => ({ ...value, ...root.value })), root.value] };
  });

test('every schema becomes portable, once and for all', () => {
  fc.assert(
    fc.property(anySchema, ({ schema }) => {
      const portable = portableSchema(schema);
      expect(schemaProblem(portable)).toBeUndefined();
      expect(portableSchema(portable)).toEqual(portable);
    }),
  );
});

test('what a tool accepts, the portable schema does not forbid', () => {
  let accepted = 0;
  fc.assert(
    fc.property(anySchema, ({ schema, values }) => {
      for (const value of values.filter((one) => valid(schema, one))) {
        accepted++;
        expect(valid(portableSchema(schema), value)).toBe(true);
      }
    }),
  );
  expect(accepted).toBeGreaterThan(50);
});

test('arbitrary JSON as a schema becomes portable too', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('type', 'properties', 'anyOf', 'items', '$ref', 'required', 'x'), fc.jsonValue()),
      (schema) => {
        expect(schemaProblem(portableSchema(schema as JsonSchema))).toBeUndefined();
      },
    ),
  );
});

describe('a name', () => {
  test('stays as it is where it can', () => {
    expect(portableName('docs-search')).toBe('docs-search');
  });
  test('keeps to 64 characters behind the longest prefix of an agent, and stays unique', () => {
    const long = 'x'.repeat(100);
    const names = [long, `${long}y`, 'a.b', 'a/b', 'a_b'].map((name) => portableName(name));
    for (const name of names) expect(`mcp__switchboard-2__${name}`).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(names.length);
  });
});

test('a description is cut between words, and says so', () => {
  const { description } = portableTool({ name: 'x', description: 'word '.repeat(400), inputSchema: { type: 'object' } });
  expect(description.length).toBeLessThanOrEqual(1024);
  expect(description).toMatch(/word …$/);
});

test.each([
  [{ name: 'a.b', description: '', inputSchema: { type: 'object' } }, 'its name has characters'],
  [{ name: 'ask_user', description: '', inputSchema: { type: 'object' } }, 'an agent reserves'],
  [{ name: 'a'.repeat(50), description: '', inputSchema: { type: 'object' } }, 'its name is too long'],
  [{ name: 'a', description: 'x'.repeat(1025), inputSchema: { type: 'object' } }, 'its description is too long'],
  [{ name: 'a', description: '', inputSchema: { type: 'object', anyOf: [] } }, 'anyOf at its root'],
  [{ name: 'a', description: '', inputSchema: { type: 'object', properties: { a: { $ref: '#' } } } }, '$ref'],
])('the check finds what an API would refuse: %j', (tool, problem) => {
  expect(toolProblem(tool)).toContain(problem);
});

test('a choice between arguments is put into words', () => {
  expect(choiceText({ oneOf: [{ required: ['a'] }, { required: ['b', 'c'] }] })).toBe('Needs exactly one of: `a`, `b` with `c`.');
  expect(choiceText({ anyOf: [{ properties: {} }, { required: ['b'] }] })).toBeUndefined();
});
