// Pages of session/list over several agents.
import { describe, expect, test } from 'vitest';
import { type Listed, mergePage, readCursor, writeCursor } from '../../src/router/list-page.ts';
import fc from '../generated.ts';

const anyText = fc.string({ unit: fc.nat({ max: 0xd7ff }).map((code) => String.fromCodePoint(code)) });
const entry = (sessionId: string, updatedAt?: string): Listed => ({ sessionId, updatedAt, text: JSON.stringify({ sessionId }) });
const ids = (page: readonly Listed[]) => page.map(({ sessionId }) => sessionId);

describe('a page over several agents', () => {
  test('is newest first across agents, however they format the time', () => {
    const one = [entry('a', '2026-03-01T00:00:00Z'), entry('b', '2026-01-01T00:00:00Z')];
    const two = [entry('c', '2026-02-01T12:00:00+02:00'), entry('d', '2026-03-01T00:00:01.500Z')];
    expect(ids(mergePage([one, two]))).toEqual(['d', 'a', 'c', 'b']);
  });

  test('has entries without a valid time last, in the order of the agents', () => {
    const pages = [
      [entry('a'), entry('b', 'yesterday')],
      [entry('c', '2026-01-01T00:00:00Z'), entry('d')],
    ];
    expect(ids(mergePage(pages))).toEqual(['c', 'a', 'b', 'd']);
  });

  test('has each session once, as the first agent wrote it', () => {
    const first = { ...entry('a', '2026-01-01T00:00:00Z'), text: 'first' };
    const again = { ...entry('a', '2027-01-01T00:00:00Z'), text: 'again' };
    expect(mergePage([[first], [again, entry('b')]]).map(({ text }) => text)).toEqual(['first', '{"sessionId":"b"}']);
  });

  test('loses and repeats no session and never goes back in time', () => {
    const time = fc.option(
      fc.date({ min: new Date('1971-01-01'), max: new Date('2099-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
      { nil: undefined },
    );
    const listed = fc.tuple(fc.constantFrom(...'abcdefgh'), time).map(([id, at]) => entry(id, at));
    fc.assert(
      fc.property(fc.array(fc.array(listed, { maxLength: 6 }), { maxLength: 4 }), (pages) => {
        const page = mergePage(pages);
        expect(new Set(ids(page))).toEqual(new Set(ids(pages.flat())));
        expect(ids(page)).toHaveLength(new Set(ids(page)).size);
        const times = page.map(({ updatedAt }) => (updatedAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(updatedAt)));
        expect(times).toEqual([...times].sort((a, b) => (a === b ? 0 : b - a)));
      }),
    );
  });

  test("leaves the agents' pages unchanged", () => {
    const pages = [[entry('a'), entry('b', '2026-01-01T00:00:00Z')]];
    const before = JSON.stringify(pages);
    mergePage(pages);
    expect(JSON.stringify(pages)).toBe(before);
  });
});

describe('a cursor', () => {
  const anyCwd = fc.option(anyText, { nil: undefined });

  test('is returned as it was written, with the same filter', () => {
    const next = fc.dictionary(fc.stringMatching(/^[A-Za-z0-9][\w.-]*$/), anyText, { minKeys: 1 });
    fc.assert(
      fc.property(next, anyCwd, (cursors, cwd) => {
        const text = writeCursor({ next: cursors, cwd });
        expect(text).toMatch(/^[\w-]+$/);
        expect(readCursor(text as string, cwd)).toEqual({ next: cursors, cwd });
      }),
    );
  });

  test('is absent once every agent has sent its last page', () => {
    expect(writeCursor({ next: {}, cwd: '/w' })).toBeUndefined();
  });

  test('is refused with another filter', () => {
    fc.assert(
      fc.property(anyCwd, anyCwd, (cwd, other) => {
        fc.pre(cwd !== other);
        expect(readCursor(writeCursor({ next: { a: '1' }, cwd }) as string, other)).toBeUndefined();
      }),
    );
  });

  const foreign = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  test.each([
    ['nothing', ''],
    ['an agent’s own', 'page-2'],
    ['base64 of something else', Buffer.from('{"offset":50}').toString('base64')],
    ['a scalar', foreign(1)],
    ['null', foreign(null)],
    ['another version', foreign({ v: 2, next: { a: '1' } })],
    ['one without a next', foreign({ v: 1 })],
    ['one whose next is text', foreign({ v: 1, next: 'a' })],
    ['one whose next is null', foreign({ v: 1, next: null })],
    ['one whose next holds no text', foreign({ v: 1, next: { a: 1 } })],
    ['one whose next holds more than text', foreign({ v: 1, next: { a: '1', b: 1 } })],
  ])('that is %s is refused', (_, text) => {
    expect(readCursor(text, undefined)).toBeUndefined();
  });

  test('with any other text is refused and never throws', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readCursor(text, undefined)).toBeUndefined();
      }),
    );
  });
});
