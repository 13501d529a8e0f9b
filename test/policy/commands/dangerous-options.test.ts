// The table of dangerous options: an allow rule that leaves words open covers none of them, however they are written.
import { expect, test } from 'vitest';
import { DANGEROUS_OPTIONS, dangerousOptionReason } from '../../../src/policy/commands/dangerous-options.ts';

const all = (): boolean => true;
const OPTIONS = DANGEROUS_OPTIONS.flatMap(({ programs, subcommands, options, except }) =>
  programs.split(' ').flatMap((program) =>
    options
      .split(' ')
      .filter((option) => option !== '')
      .map((option) => [program, option, subcommands?.split(' ')[0] ?? 'sub', except ?? ''] as const),
  ),
);

test(`each of the ${OPTIONS.length} options in the table blocks an open allow, wherever and however it is written`, () => {
  for (const [program, option, subcommand, except] of OPTIONS) {
    const short = option.slice(0, -1);
    const isAbbreviated = option.startsWith('--') && short.length > 2 && !except.split(' ').includes(short);
    const forms = [option, `${option}=x`, ...(isAbbreviated ? [short, `${short}=x`] : [])];
    for (const form of option.startsWith('--') || option.length > 2 ? forms : [option, `${option}x`]) {
      expect(dangerousOptionReason([program, subcommand, form], all), `${program} ${form}`).toBeDefined();
      expect(dangerousOptionReason([program, subcommand, 'a', '--other', 'b', form], all), `${program} … ${form}`).toBeDefined();
    }
  }
});

test('an option that the rule spells out is allowed', () => {
  expect(dangerousOptionReason(['git', 'log', '--output=x'], (index) => index !== 2)).toBeUndefined();
});

test('every entry gives a reason and its source', () => {
  for (const { why, source } of DANGEROUS_OPTIONS) expect([why, source].every((text) => text.length > 3)).toBe(true);
  process.stdout.write(`dangerous options: ${DANGEROUS_OPTIONS.length} entries, ${OPTIONS.length} program options\n`);
});
