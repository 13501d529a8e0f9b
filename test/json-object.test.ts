// Reading fields of values that may not be objects.
import { expect, test } from 'vitest';
import { fields, isObject } from '../src/json-object.ts';

test.each([[null], [undefined], [[]], ['text'], [0]])('%j is not an object and has no fields', (value) => {
  expect(isObject(value)).toBe(false);
  expect(fields(value)).toEqual({});
});

test('an object is returned unchanged', () => {
  const value = { a: 1 };
  expect(isObject(value)).toBe(true);
  expect(fields(value)).toBe(value);
});
