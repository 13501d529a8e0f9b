// The lines of sessions.jsonl, and the host tools of a session for people.
import { expect, test } from 'vitest';
import { areSettings, createSessionState, parseRecord, toolsText } from '../../../src/store/sessions/session-records.ts';

test.each([
  [undefined, 'none offered'],
  [{ transport: 'http', state: 'offered' }, 'offered by http, not connected'],
  [{ transport: 'http', state: 'connected' }, 'by http (connected)'],
  [{ transport: 'stdio', state: 'listed', names: ['a', 'b'] }, '2 by stdio'],
  [{ transport: 'acp', state: 'called', names: ['a', 'b'] }, '2 by acp, used'],
])('%j: %s', (tools, expected) => {
  expect(toolsText(tools)).toBe(expected);
});

test('once a line says that a session has begun, no later line takes it back, for example of a process that has it open', () => {
  const state = createSessionState();
  const line = { sessionId: 's', agent: 'a', nativeId: 's', at: '2026-01-01T00:00:00.000Z' };
  const last = () => state.bySessionId.get('s');
  state.apply({ ...line, isUnprompted: true, settings: { mode: 'plan' } });
  expect(last()).toMatchObject({ isUnprompted: true, settings: { mode: 'plan' } });
  state.apply(line);
  state.apply({ ...line, isUnprompted: true, settings: { mode: 'plan' } });
  expect(last()?.isUnprompted).toBeUndefined();
  expect(last()?.settings).toBeUndefined();
});

test.each([
  [{ mode: 'plan', model: 'm', options: { a: 'b', fast: true } }, true],
  [{}, true],
  [{ mode: 1 }, false],
  [{ options: { a: { b: 1 } } }, false],
  [{ model: 'x'.repeat(501) }, false],
  [{ options: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`o${n}`, 'x'])) }, false],
  [['plan'], false],
])('settings %j are read back: %s', (settings, isKept) => {
  expect(areSettings(settings)).toBe(isKept);
  const read = parseRecord(JSON.stringify({ sessionId: 's', agent: 'a', nativeId: 's', isUnprompted: true, settings }));
  expect(read?.settings).toEqual(isKept ? settings : undefined);
  expect(parseRecord(JSON.stringify({ sessionId: 's', agent: 'a', nativeId: 's', settings }))?.settings).toBeUndefined();
});
