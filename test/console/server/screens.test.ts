import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Page } from '../../../src/console/server/page-connection.ts';
import { joinHandlers } from '../../../src/console/server/screens.ts';

const page = {} as Page;
const params = z.strictObject({ n: z.int() });

describe('what screens bring', () => {
  const handlers = joinHandlers([
    { actions: { double: { params, perform: ({ n }: { n: number }) => n * 2 } } },
    {
      topics: {
        count: {
          params,
          subscribe({ n }: { n: number }, send) {
            send(n);
            return () => send('over');
          },
        },
      },
    },
  ]);

  test('is asked for by name, and gets what it was promised', () => {
    expect(handlers.perform('double', { n: 4 }, page)).toBe(8);
    const received: unknown[] = [];
    handlers.subscribe('count', { n: 3 }, (news) => received.push(news), page)();
    expect(received).toEqual([3, 'over']);
  });

  test.each([
    ['double', { n: 'four' }, /expected int|expected number/i],
    ['double', { n: 4, more: true }, /more/],
    ['double', undefined, /expected object/],
    ['count', { n: 4 }, /there is no act "count"/],
    ['constructor', {}, /there is no act "constructor"/],
    ['\u001b[31mred\u202e', {}, /there is no act "red⟨U\+202E⟩"/],
  ])('%s with %j is refused, and nothing is done', (action, given, why) => {
    expect(() => handlers.perform(action, given, page)).toThrow(why);
  });

  test('of one name is not there twice', () => {
    const one = { actions: { double: { params, perform: () => 1 } } };
    expect(() => joinHandlers([one, one])).toThrow('two screens have "double"');
  });
});
