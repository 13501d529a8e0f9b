// Paths that are refused before any disk access.
import { describe, expect, test } from 'vitest';
import { pathProblem } from '../../src/workspace/resolve-inside.ts';

describe('on POSIX', () => {
  test.each(['/a', '/a/b c/..', '/a\\b', '/a:b', '/con', '/a. ', '/line\nfeed', '//a'])('%j is accepted', (file) => {
    expect(pathProblem(file, 'linux')).toBeUndefined();
  });
  test.each([
    ['', /absolute/],
    ['a', /absolute/],
    ['./a', /absolute/],
    ['file:///a', /URI/],
    ['C:\\a', /absolute/],
    ['/a\0', /NUL/],
    ['/\udc00', /half a character/],
    [`/${'x'.repeat(256)}`, /255 bytes/],
    [`/${'x/'.repeat(2048)}`, /4096 bytes/],
    [7, /a string/],
    [undefined, /a string/],
  ])('%j is refused', (file, why) => {
    expect(pathProblem(file, 'darwin')).toMatch(why);
  });
});

describe('on Windows', () => {
  test.each(['C:\\a', 'c:/a/b.txt', 'C:\\a\\..\\b', 'C:\\a\\.\\b', 'C:\\console.txt', 'C:\\PROGRA~1\\x'])('%j is accepted', (file) => {
    expect(pathProblem(file, 'win32')).toBeUndefined();
  });
  test.each([
    ['C:a', /absolute/],
    ['a', /absolute/],
    ['\\a', /drive/],
    ['/a', /drive/],
    ['\\\\server\\share\\a', /shares and devices/],
    ['//server/share/a', /shares and devices/],
    ['\\\\?\\C:\\a', /shares and devices/],
    ['\\\\.\\pipe\\a', /shares and devices/],
    ['C:\\a.txt:stream', /stream/],
    ['C:\\a.txt::$DATA', /stream/],
    ['C:\\con', /device/],
    ['C:\\a/NUL.txt', /device/],
    ['C:\\com1\\a', /device/],
    ['C:\\lpt9', /device/],
    ['C:\\conin$', /device/],
    ['C:\\a.txt.', /dot or a space/],
    ['C:\\a \\b', /dot or a space/],
    ['C:\\...\\b', /dot or a space/],
  ])('%j is refused', (file, why) => {
    expect(pathProblem(file, 'win32')).toMatch(why);
  });
});
