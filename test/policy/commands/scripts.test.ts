// The small languages: what is understood of sed, awk and jq programs, given as one word.
import { describe, expect, test } from 'vitest';
import { readAwk } from '../../../src/policy/commands/scripts/awk.ts';
import { readJq } from '../../../src/policy/commands/scripts/jq.ts';
import { readSed } from '../../../src/policy/commands/scripts/sed.ts';

describe('sed', () => {
  test.each([
    ['a text that an even number of backslashes ends', 'a one\\\\\ne id'],
    ['the same behind another text', 'i\\\none\\\\\ne id'],
    ['a command behind a label', ':a;e id'],
    ['a replacement that is run', 's/a/b/ge'],
    ['a class with the delimiter in it', 's:[[:space:]]:x:;e id;s:a:b:'],
    ['a character by its name in brackets', 's/[a[.].]/]/x/'],
  ])('does not understand %s', (_, script) => {
    expect(readSed(script)).toHaveProperty('reason');
  });

  test('understands a text that goes on behind one backslash or three', () => {
    expect(readSed('a one\\\ne id')).toEqual({ effects: [] });
    expect(readSed('a one\\\\\\\ne id')).toEqual({ effects: [] });
  });

  test.each(['s/[[:space:]]*$//p', '/^[[:alpha:]_][[:alnum:]_]*=/p', 's/[^[:digit:].]//g'])(
    'understands classes in brackets: %s',
    (script) => {
      expect(readSed(script)).toEqual({ effects: [] });
    },
  );

  test('finds the files that it reads and writes', () => {
    expect(readSed('/x/r one\ns/a/b/w two')).toEqual({
      effects: [
        { kind: 'read', path: 'one' },
        { kind: 'write', path: 'two' },
      ],
    });
  });
});

describe('awk', () => {
  // What one reader takes for a division, awk takes for a pattern, and the string behind it for code.
  test.each(['exit', 'next', 'BEGIN', 'delete', 'while', ')', '++'])('does not understand a slash behind "%s"', (before) => {
    expect(readAwk(`{ ${before} /"/; system("id"); x = /"/ }`)).toHaveProperty('reason');
  });

  test.each(['1system("id")', '2getline < "x"', '0x1Fsystem("id")', '1e5system("id")', '.5system("id")'])(
    'does not understand %s',
    (call) => {
      expect(readAwk(`BEGIN { x = ${call} }`)).toHaveProperty('reason');
    },
  );

  test.each([
    '{ print 1.5 * $2, 10 / 4, 2e3 }',
    '{ print $1 / 2 }',
    '{ print a[1] / 2, b / c, "4" / 2 }',
    '/x/ { print }',
    '$1 ~ /a"b/ { print $2 }',
  ])('understands %s', (program) => {
    expect(readAwk(program)).toEqual({ effects: [] });
  });
});

describe('jq', () => {
  test.each(['env', '$ENV', '"\\(env)"', '"a\\("b\\($ENV)")"', '.a // env'])('finds the environment in %s', (program) => {
    expect(readJq(program)).toEqual({ effects: [{ kind: 'environment' }] });
  });

  test.each(['str_load("x")', 'xml_load ("x")', 'true orload("x")', 'load_props("x")', 'strenv(X)', 'ENV(X)'])(
    'does not understand %s',
    (program) => {
      expect(JSON.stringify(readJq(program))).toMatch(/reason|environment/);
    },
  );

  test.each(['{environment, name}', '.load | length', '.env', '.a.env', '"env"', '.["env"]', '"$ENV"'])('takes %s for data', (program) => {
    expect(readJq(program)).toEqual({ effects: [] });
  });
});
