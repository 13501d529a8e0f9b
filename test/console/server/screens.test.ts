import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Page } from '../../../src/console/server/page-connection.ts';
import { joinParts } from '../../../src/console/server/screens.ts';

const page = {} as Page;
const gives = z.strictObject({ n: z.int() });

describe('what screens bring', () => {
  const parts = joinParts([
    { acts: { double: { gives, perform: ({ n }: { n: number }) => n * 2 } } },
    {
      topics: {
        count: {
          gives,
          follow({ n }: { n: number }, tell) {
            tell(n);
            return () => tell('over');
          },
        },
      },
    },
  ]);

  test('is asked for by name, and gets what it was promised', () => {
    expect(parts.perform('double', { n: 4 }, page)).toBe(8);
    const told: unknown[] = [];
    parts.follow('count', { n: 3 }, (news) => told.push(news), page)();
    expect(told).toEqual([3, 'over']);
  });

  test.each([
    ['double', { n: 'four' }, /expected int|expected number/i],
    ['double', { n: 4, more: true }, /more/],
    ['double', undefined, /expected object/],
    ['count', { n: 4 }, /there is no act "count"/],
    ['constructor', {}, /there is no act "constructor"/],
    ['\u001b[31mred\u202e', {}, /there is no act "red⟨U\+202E⟩"/],
  ])('%s with %j is refused, and nothing is done', (act, given, why) => {
    expect(() => parts.perform(act, given, page)).toThrow(why);
  });

  test('of one name is not there twice', () => {
    const one = { acts: { double: { gives, perform: () => 1 } } };
    expect(() => joinParts([one, one])).toThrow('two screens have "double"');
  });
});
