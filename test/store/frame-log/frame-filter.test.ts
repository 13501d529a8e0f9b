// Filter terms for the frame log.
import { expect, test } from 'vitest';
import { type FrameRecord, parseFilter, termsOf } from '../../../src/store/frame-log/frame-filter.ts';

const RECORD: FrameRecord = {
  ...{ t: 1, leg: 'codex#2', dir: 'fromAgent', kind: 'response', method: 'session/prompt', id: 5, session: 'abc' },
  ...{ ms: 600, bytes: 200, error: -32603, msg: { error: { message: 'File not found' } } },
};

test.each([
  'agent:codex',
  'leg:codex#2',
  'connection:codex#2',
  'method:session/*',
  'dir:in',
  'dir:fromAgent',
  'err:true',
  'ms>500',
  'ms<601',
  'bytes>100',
  'id:5',
  'session:a*',
  'kind:response',
  'error<0',
  'text:NOT found',
  '!method:session/update',
  '!ms>700',
])('%s matches', (term) => {
  const filter = parseFilter([term]);
  expect(typeof filter === 'function' && filter(RECORD)).toBe(true);
});
test.each(['connection:client', 'dir:toClient', 'leg:editor', 'dir:toEditor', 'dir:out'])('%s matches what goes to the client', (term) => {
  const filter = parseFilter([term]);
  expect(typeof filter === 'function' && filter({ t: 1, leg: 'editor', dir: 'toEditor' })).toBe(true);
});
test('stars in a filter take linear time for any method name', () => {
  const filter = parseFilter([`method:${'*a'.repeat(400)}b`]);
  expect(typeof filter === 'function' && filter({ t: 1, method: 'a'.repeat(100_000) })).toBe(false);
  const parts = parseFilter(['method:a*b*a']);
  const taken = ['aba', 'axbxa', 'abba', 'ab', 'aa', 'abab', 'xaba'].filter(
    (method) => typeof parts === 'function' && parts({ t: 1, method }),
  );
  expect(taken).toEqual(['aba', 'axbxa', 'abba']);
});

test.each([
  'agent:code',
  'method:session',
  'method:.*',
  'dir:out',
  'err:false',
  'ms>600',
  'bytes<100',
  'kind:request',
  'text:nothing',
  '!err:true',
])('%s does not match', (term) => {
  const filter = parseFilter([term]);
  expect(typeof filter === 'function' && filter(RECORD)).toBe(false);
});
test('terms are separated by spaces, and quotes keep words together', () => {
  expect(termsOf(' agent:codex  text:"not  found" !"text:a b"')).toEqual(['agent:codex', 'text:not  found', '!text:a b']);
  expect(termsOf('text:"still typing')).toEqual(['text:still typing']);
});
test('a record without a payload contains no text', () => {
  const filter = parseFilter(['text:a']);
  expect(typeof filter === 'function' && filter({ t: 1 })).toBe(false);
});
test('all terms must match', () => {
  const filter = parseFilter(['agent:codex', 'dir:out']);
  expect(typeof filter === 'function' && filter(RECORD)).toBe(false);
});
test.each(['codex', 'who:codex', 'ms>fast', 'method>1', 'toString:x'])('%s is not a filter term', (term) => {
  expect(parseFilter(['dir:in', term])).toMatchObject({ wrong: term });
});
