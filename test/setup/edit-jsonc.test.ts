// Adding and removing keys in JSONC, with comments and layout kept.
import { type ParseError, parse } from 'jsonc-parser/lib/esm/main.js';
import { describe, expect, test } from 'vitest';
import { NotAnObject, withoutProperty, withProperty } from '../../src/setup/edit-jsonc.ts';
import fc from '../generated.ts';

function read(text: string): unknown {
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
}

const ENTRY = { command: '/bin/x', args: ['a', 'b'] };

describe('a key is added', () => {
  test.each([
    ['to nothing', '', '{\n  "agents": {\n    "x": {\n      "command": "/bin/x",\n      "args": ["a", "b"]\n    }\n  }\n}\n'],
    [
      'to comments alone',
      '// mine',
      '// mine\n{\n  "agents": {\n    "x": {\n      "command": "/bin/x",\n      "args": ["a", "b"]\n    }\n  }\n}\n',
    ],
    ['to an empty object', '{ "agents": {} }', '{ "agents": {\n  "x": {\n    "command": "/bin/x",\n    "args": ["a", "b"]\n  }\n} }'],
    [
      'behind the last, whose comment stays with it',
      '{\n\t"agents": {\n\t\t"a": 1, // one\n\t\t"b": 2 // two\n\t\t// the end\n\t}\n}',
      '{\n\t"agents": {\n\t\t"a": 1, // one\n\t\t"b": 2, // two\n\t\t"x": {\n\t\t\t"command": "/bin/x",\n\t\t\t"args": ["a", "b"]\n\t\t}\n\t\t// the end\n\t}\n}',
    ],
    [
      'behind a trailing comma, and gets one too',
      '{\n  "agents": {\n    "a": 1, /* one */ // more\n  },\n}',
      '{\n  "agents": {\n    "a": 1, /* one */ // more\n    "x": {\n      "command": "/bin/x",\n      "args": ["a", "b"]\n    },\n  },\n}',
    ],
    [
      'to an object on one line, in that line',
      '{\r\n  "agents": { "a": 1 }\r\n}\r\n',
      '{\r\n  "agents": { "a": 1, "x": { "command": "/bin/x", "args": ["a", "b"] } }\r\n}\r\n',
    ],
    [
      'to an object with only a comment in it',
      '{\n  "agents": { // none yet\n  }\n}',
      '{\n  "agents": { // none yet\n    "x": {\n      "command": "/bin/x",\n      "args": ["a", "b"]\n    }\n  }\n}',
    ],
    [
      'where a comma leads the line',
      '{ "agents":\n  { "a": 1\n  , "b": 2\n  }\n}',
      '{ "agents":\n  { "a": 1\n  , "b": 2,\n    "x": {\n      "command": "/bin/x",\n      "args": ["a", "b"]\n    }\n  }\n}',
    ],
  ])('%s', (_, before, after) => {
    const edited = withProperty(before, ['agents', 'x'], ENTRY);
    expect(edited).toBe(after);
    expect(read(edited)).toMatchObject({ agents: { x: ENTRY } });
  });

  test('with a comment above it', () => {
    expect(withProperty('{}', ['a'], 1, 'why')).toBe('{\n  // why\n  "a": 1\n}');
  });

  test('but not to a value that is not an object', () => {
    expect(() => withProperty('{ "agents": null }', ['agents', 'x'], 1)).toThrow(NotAnObject);
    expect(() => withProperty('[]', ['agents', 'x'], 1)).toThrow('the file is not an object');
  });
});

test('a value is replaced in place', () => {
  expect(withProperty('{\n  "a": "old", // why\n  "b": 2\n}', ['a'], ['n', 'e'])).toBe('{\n  "a": ["n", "e"], // why\n  "b": 2\n}');
});

describe('a key is removed', () => {
  test.each([
    ['from the middle', '{\n  "a": 1,\n  "x": 2, // x\n  "b": 3\n}', '{\n  "a": 1,\n  "b": 3\n}'],
    ['from the end', '{\n  "a": 1, // one\n  "x": 2 // x\n}', '{\n  "a": 1 // one\n}'],
    ['from the end, before a trailing comma', '{\n  "a": 1,\n  "x": 2,\n}', '{\n  "a": 1,\n}'],
    ['from one line', '{ "a": 1, "x": { "y": 1 }, "b": 3 }', '{ "a": 1, "b": 3 }'],
    ['from the end of one line', '{ "a": 1, "x": 2 }', '{ "a": 1 }'],
    ['that was the only one', '{\n  "x": 2\n}', '{}'],
    ['that was the only one besides a comment', '{\n  // nothing else\n  "x": 2\n}', '{\n  // nothing else\n}'],
    ['with our comment', '{\n  "a": 1,\n  // ours: x\n  "x": 2,\n  // theirs\n  "b": 3\n}', '{\n  "a": 1,\n  // theirs\n  "b": 3\n}'],
    ['that is not there', '{ "a": 1 }', '{ "a": 1 }'],
  ])('%s', (_, before, after) => {
    expect(withoutProperty(before, ['x'], (line) => line.startsWith('// ours'))).toBe(after);
  });
});

/** Objects as people write them: with comments in any place, with and without a trailing comma, on one line or many. */
const comment = fc.constantFrom('', '', ' // "x": {,}', ' /* , } */', ' // é');
const scalar = fc.constantFrom('1', 'null', '"a, // b"', '"}"', '[1, 2]', '[\n    "x",\n  ]');
const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('object')),
  object: fc
    .record({
      values: fc.array(fc.record({ value: tie('value'), behind: comment, above: comment }), { maxLength: 4 }),
      hasTrailingComma: fc.boolean(),
      eol: fc.constantFrom('\n'),
      opening: comment,
    })
    .map(({ values, hasTrailingComma, eol, opening }) => {
      const lines = values.map(({ value, behind, above }, index) => {
        const comma = index < values.length - 1 || hasTrailingComma ? ',' : '';
        return `${above === '' ? '' : `${eol} ${above}`}${eol}  "k${index}": ${value}${comma}${behind}`;
      });
      return `{${opening}${lines.join('')}${eol}}`;
    }),
}));

test('for any text, the key is added, all else stays, and removing it restores the text', () => {
  fc.assert(
    fc.property(object, fc.constantFrom(['x'], ['k0', 'x'], ['k1', 'k0', 'x']), (text, path) => {
      let edited: string;
      try {
        edited = withProperty(text, path, ENTRY);
      } catch (error) {
        expect(error).toBeInstanceOf(NotAnObject);
        return;
      }
      const back = withoutProperty(edited, path);
      expect(read(withoutProperty(edited, path))).toEqual(read(withoutProperty(withProperty(text, path, 0), path)));
      const at = path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], read(edited));
      expect(at).toEqual(ENTRY);
      const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], read(text));
      if (typeof parent === 'object' && parent !== null && Object.keys(parent).length > 0) expect(back).toBe(text);
    }),
    { numRuns: 500 },
  );
});
