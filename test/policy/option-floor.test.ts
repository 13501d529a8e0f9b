import { expect, test } from 'vitest';
import { OPTION_FLOOR } from '../../src/policy/commands/dangerous-options.ts';
import { floorReason } from '../../src/policy/commands/option-test.ts';

const all = (): boolean => true;
const OPTIONS = OPTION_FLOOR.flatMap(({ programs, subcommands, options, except }) =>
  programs.split(' ').flatMap((program) =>
    options
      .split(' ')
      .filter((option) => option !== '')
      .map((option) => [program, option, subcommands?.split(' ')[0] ?? 'sub', except ?? ''] as const),
  ),
);

test(`each of the ${OPTIONS.length} options in the table stands against an open allow, wherever and however it is written`, () => {
  for (const [program, option, subcommand, except] of OPTIONS) {
    const short = option.slice(0, -1);
    const isAbbreviated = option.startsWith('--') && short.length > 2 && !except.split(' ').includes(short);
    const forms = [option, `${option}=x`, ...(isAbbreviated ? [short, `${short}=x`] : [])];
    for (const form of option.startsWith('--') || option.length > 2 ? forms : [option, `${option}x`]) {
      expect(floorReason([program, subcommand, form], all), `${program} ${form}`).toBeDefined();
      expect(floorReason([program, subcommand, 'a', '--other', 'b', form], all), `${program} … ${form}`).toBeDefined();
    }
  }
});

test('an option that the rule itself spells out is the rule author’s own decision', () => {
  expect(floorReason(['git', 'log', '--output=x'], (index) => index !== 2)).toBeUndefined();
});

test('every entry says why and where that is written', () => {
  for (const { why, source } of OPTION_FLOOR) expect([why, source].every((text) => text.length > 3)).toBe(true);
  process.stdout.write(`policy option floor: ${OPTION_FLOOR.length} entries, ${OPTIONS.length} program options\n`);
});
