// session/list of the demo agents, page by page.
import { expect, test } from 'vitest';
import { listSessions } from '../../src/demo/agent-app.ts';
import type { SessionRecord } from '../../src/demo/session-store.ts';

const records = Array.from(
  { length: 45 },
  (_, index): SessionRecord => ({
    sessionId: `session-${index}`,
    cwd: index < 5 ? '/a' : '/b',
    title: null,
    updatedAt: new Date(index * 1000).toISOString(),
    modeId: 'ask',
    configValues: {},
    turns: 0,
    transcript: [],
  }),
);

test('following the cursors gives every session once, newest first', () => {
  const pages: string[][] = [];
  let cursor: string | null | undefined;
  do {
    const answer = listSessions(records, cursor ? { cursor } : {});
    pages.push(answer.sessions.map(({ sessionId }) => sessionId));
    cursor = answer.nextCursor;
  } while (cursor);
  expect(pages.map((page) => page.length)).toEqual([20, 20, 5]);
  expect(pages.flat()).toEqual(records.map(({ sessionId }) => sessionId).reverse());
});

test('a cwd narrows the list, and a short list has no cursor', () => {
  expect(listSessions(records, { cwd: '/a' })).toEqual({
    sessions: [4, 3, 2, 1, 0].map((index) => ({
      sessionId: `session-${index}`,
      cwd: '/a',
      title: null,
      updatedAt: new Date(index * 1000).toISOString(),
    })),
  });
});

test('an unknown cursor is refused', () => {
  expect(() => listSessions(records, { cursor: 'session-99' })).toThrow('no such cursor');
});
