import { expect, test } from 'vitest';
import { type FrameRecord, parseFilter } from '../../src/log/frame-filter.ts';

const RECORD: FrameRecord = {
  ...{ t: 1, leg: 'codex#2', dir: 'fromAgent', kind: 'response', method: 'session/prompt', id: 5, session: 'abc' },
  ...{ ms: 600, bytes: 200, error: -32603 },
};

test.each([
  'agent:codex',
  'leg:codex#2',
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
])('%s takes what it says', (term) => {
  const filter = parseFilter([term]);
  expect(typeof filter === 'function' && filter(RECORD)).toBe(true);
});
test.each(['agent:code', 'method:session', 'method:.*', 'dir:out', 'err:false', 'ms>600', 'bytes<100', 'kind:request'])(
  '%s does not',
  (term) => {
    const filter = parseFilter([term]);
    expect(typeof filter === 'function' && filter(RECORD)).toBe(false);
  },
);
test('all terms must hold', () => {
  const filter = parseFilter(['agent:codex', 'dir:out']);
  expect(typeof filter === 'function' && filter(RECORD)).toBe(false);
});
test.each(['codex', 'who:codex', 'ms>fast', 'method>1', 'toString:x'])('%s is no filter', (term) => {
  expect(parseFilter(['dir:in', term])).toEqual({ wrong: term });
});
