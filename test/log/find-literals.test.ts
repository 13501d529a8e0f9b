import { expect, test } from 'vitest';
import { createLiteralFinder } from '../../src/log/find-literals.ts';
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
