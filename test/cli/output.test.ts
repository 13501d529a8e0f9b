// Tables that the commands print.
import { afterEach, expect, test, vi } from 'vitest';
import { printTable } from '../../src/cli/output.ts';

afterEach(() => void vi.restoreAllMocks());

function printed(width?: number): string[] {
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  printTable(
    ['NAME', 'COMMAND'],
    [
      ['one', `node ${'x'.repeat(60)}`],
      ['two', 'short'],
    ],
    width,
  );
  vi.restoreAllMocks();
  return text.split('\n').slice(0, -1);
}

test.each([
  { width: undefined, longest: 71 },
  { width: 40, longest: 40 },
  { width: 10, longest: 26 }, // the minimum that is still readable
])('the last column of a table is truncated to a width of $width', ({ width, longest }) => {
  const lines = printed(width);
  expect(lines.map((line) => line.length)).toEqual([13, longest, 11]);
  expect(lines[1]?.endsWith('…')).toBe(width !== undefined);
});
