// The host tools of a session, for people.
import { expect, test } from 'vitest';
import { toolsText } from '../../../src/store/sessions/session-records.ts';

test.each([
  [undefined, 'none offered'],
  [{ transport: 'http', state: 'offered' }, 'offered by http, not taken'],
  [{ transport: 'http', state: 'connected' }, 'by http (connected)'],
  [{ transport: 'stdio', state: 'listed', names: ['a', 'b'] }, '2 by stdio'],
  [{ transport: 'acp', state: 'called', names: ['a', 'b'] }, '2 by acp, used'],
])('%j: %s', (tools, expected) => {
  expect(toolsText(tools)).toBe(expected);
});
