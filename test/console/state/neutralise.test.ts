// Control characters in agent text and program output.
import { describe, expect, test } from 'vitest';
import { neutralise, neutraliseOutput } from '../../../src/control-characters.ts';

describe('agent text', () => {
  test.each([
    ['orders to a terminal are gone', '\u001b[31mred\u001b[0m \u001b]0;title\u0007and \u001b[2Jcleared', 'red and cleared'],
    ['a link that a terminal would make is its words alone', '\u001b]8;;http://evil/\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['controls are gone, tabs and line ends stay', 'a\u0000\u0007b\tc\r\nd\u0085e', 'ab\tc\nde'],
    ['marks that turn text around are named', 'rm \u202etxt.exe\u202c', 'rm ⟨U+202E⟩txt.exe⟨U+202C⟩'],
    ['characters that cannot be seen are named', 'pay\u200bpal \u2066x\u2069', 'pay⟨U+200B⟩pal ⟨U+2066⟩x⟨U+2069⟩'],
    ['tags that only machines read are named', `a${String.fromCodePoint(0xe0041)}b`, 'a⟨U+E0041⟩b'],
    ['a lone escape is gone', 'a\u001b', 'a'],
    ['writing systems, emoji and the joiner in them stay', 'שלום 日本 👩‍💻', 'שלום 日本 👩‍💻'],
  ])('%s', (_, text, expected) => {
    expect(neutralise(text)).toBe(expected);
  });
});

describe('program output', () => {
  test('keeps its colours and nothing else', () => {
    expect(neutraliseOutput('\u001b[1;31mbad\u001b[0m\u001b[2K\u001b[?25l ok\u0007')).toBe('\u001b[1;31mbad\u001b[0m ok');
  });
  test('shows the last text of a line that was overwritten', () => {
    expect(neutraliseOutput('10%\r50%\r100%\r\ndone\r\n')).toBe('100%\ndone\n');
  });
  test('takes linear time, however often it returns to the start of a line', () => {
    const { user } = process.cpuUsage();
    expect(neutraliseOutput(`${'\r'.repeat(65_000)}x${'\r'.repeat(65_000)}`)).toBe('x');
    // Quadratic time would be seconds.
    expect(process.cpuUsage().user - user).toBeLessThan(500_000);
  });
});
