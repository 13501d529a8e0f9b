// The search for known values in a text.
import { expect, test } from 'vitest';
import { createLiteralFinder } from '../../src/redaction/find-literals.ts';
import fc from '../generated.ts';

test('finds exactly the literals that occur', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'k', '-', 'é', '世'), minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'k', '-', 'é', '世'), maxLength: 60 }),
      (literals, text) => {
        const found = createLiteralFinder(literals)(text);
        expect([...(found ?? [])].sort()).toEqual(literals.flatMap((literal, index) => (text.includes(literal) ? [index] : [])));
      },
    ),
  );
});

test('the shortest literals are found only before one of the given characters, the others anywhere', () => {
  const unit = fc.constantFrom('a', 'b', 'k', '-', '!');
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit, minLength: 3, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
      fc.string({ unit, maxLength: 60 }),
      (literals, text) => {
        const shortest = Math.min(...literals.map(({ length }) => length));
        const occurs = (literal: string) =>
          literal.length > shortest ? text.includes(literal) : ['a', 'k'].some((next) => text.includes(literal + next));
        const found = createLiteralFinder(literals, 'ak')(text);
        expect([...(found ?? [])].sort()).toEqual(literals.flatMap((literal, index) => (occurs(literal) ? [index] : [])));
      },
    ),
  );
});
