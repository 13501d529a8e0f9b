// Control characters in messages for people.
import { afterEach, expect, test, vi } from 'vitest';
import { CommandFailure } from '../src/cli/failure.ts';
import { notice } from '../src/cli/output.ts';
import { printFailure } from '../src/cli/report-failure.ts';

afterEach(() => void vi.restoreAllMocks());

test("an agent's text in a failure or a notice cannot control the terminal", () => {
  const reports: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    reports.push(String(text));
    return true;
  });
  const words = 'it\tfailed\nbadly \u001b]0;title\u0007\u001b[2J\r\u202eover';
  printFailure(new CommandFailure(1, words, words), { isJson: false, isDebug: false });
  notice(words);
  const shown = reports.join('');
  expect(shown).toContain('it\tfailed\nbadly');
  for (const control of ['\u001b', '\u0007', '\r', '\u202e']) expect(shown).not.toContain(control);
  expect(shown.split('\n').at(-1)).toBe('');
});
