// Dispatch of page actions to the handlers of screens.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Page } from '../../../src/console/server/page-connection.ts';
import { joinHandlers } from '../../../src/console/server/screens.ts';

const page = {} as Page;
const params = z.strictObject({ n: z.int() });

describe('handlers of screens', () => {
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

  test('are called by name with valid parameters', () => {
    expect(handlers.perform('double', { n: 4 }, page)).toBe(8);
    const received: unknown[] = [];
    handlers.subscribe('count', { n: 3 }, (news) => received.push(news), page)();
    expect(received).toEqual([3, 'over']);
  });

  test.each([
    ['double', { n: 'four' }, /expected int|expected number/i],
    ['double', { n: 4, more: true }, /more/],
    ['double', undefined, /expected object/],
    ['count', { n: 4 }, /there is no action "count"/],
    ['constructor', {}, /there is no action "constructor"/],
    ['\u001b[31mred\u202e', {}, /there is no action "red⟨U\+202E⟩"/],
  ])('%s with %j is rejected, and nothing is done', (action, given, why) => {
    expect(() => handlers.perform(action, given, page)).toThrow(why);
  });

  test('cannot share a name', () => {
    const one = { actions: { double: { params, perform: () => 1 } } };
    expect(() => joinHandlers([one, one])).toThrow('two screens register "double"');
  });
});
