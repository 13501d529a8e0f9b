// The analysis of a line is bounded, whatever the line holds: it runs on the thread that carries every session.
import { describe, expect, test } from 'vitest';
import { commandAction, terminalAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { expectCpuBelow } from './cpu-time.ts';
import { fileText, PLACE, policyOf } from './support.ts';

describe('brackets', () => {
  test.each(['{', '(', '[', '$(', '${'])('40 kB of %s', (bracket) => {
    const line = bracket.repeat(40_000 / bracket.length);
    expectCpuBelow(5, () => commandAction(PLACE, line));
    expect(commandAction(PLACE, line).isUnreadable).toBe(true);
  });
});

const filled = (start: string, part: string, characters = 63_000): string => start + part.repeat(characters / part.length);

describe('a line with too much of something is refused before it is parsed', () => {
  test.each([
    ['backticks', filled('', '`', 40_000)],
    ['backticks in a here-document', `cat <<E\n${filled('', '`', 40_000)}\nE`],
    ['substitutions', filled('echo ', '`a` ')],
    ['operands', filled('cat', ' a', 64_000)],
    ['operands in quotes', filled('cat', ' "a"')],
    ['redirections', filled('a', '>a')],
    ['commands', filled('', 'a;')],
    ['parts of a pipeline', filled('a', '|a')],
    ['cd', filled('', 'cd a;', 40_000)],
    ['file name patterns', filled('ls', ' *')],
    ['patterns in one word', filled('ls ', '[a]')],
    ['braces in one word', filled('echo ', '{a,b}')],
    ['letters of options', filled('ls -', 'l')],
    ['letters of options in quotes', `ls "${filled('-', 'l')}"`],
    ['letters of options in many words', filled('ls', ` -${'l'.repeat(60)}`)],
    ['letters without a dash', filled('tar ', 'v')],
    ['variables', filled('echo "', '$a')],
    ['quotes', filled('echo ', '""')],
    ['arithmetic', `echo $((${filled('', '1+')}1))`],
    ['script', `sed '${filled('', 's/a/b/;')}'`],
  ])('%s', (_, line) => {
    expect(commandAction(PLACE, line).isUnreadable).toBe(true);
    expectCpuBelow(5, () => commandAction(PLACE, line));
  });
});

describe('work that no single part of a line shows is counted', () => {
  test.each([
    ['scripts inside words', filled('', `sh -c '${'`a` '.repeat(60)}';`)],
    ['one script, read at each level', `${'eval '.repeat(20)}${'x'.repeat(60_000)}`],
    ['words in many directories', `${'cd a;'.repeat(15)}cat${' a'.repeat(400)}`],
  ])('%s', (_, line) => {
    expect(commandAction(PLACE, line).isUnreadable).toBe(true);
    expectCpuBelow(10, () => commandAction(PLACE, line));
  });

  test('for an argv as for a line', () => {
    const request = { command: 'ls', args: [filled('-', 'l')] };
    expect(terminalAction(PLACE, request).isUnreadable).toBe(true);
    expectCpuBelow(5, () => terminalAction(PLACE, request));
  });
});

const names = (count: number): string => Array.from({ length: count }, (_, n) => ` a${n}`).join('');

describe('a line just below the limits is read and decided in time', () => {
  const policy = policyOf(fileText('config/policies/standard.yaml').replace(/^version:.*\n/m, ''));
  test.each([
    ['operands', `cat${names(590)}`],
    ['copies', `cp${names(290)} b`],
    ['moves', `mv${names(290)} b`],
    ['deletions', `rm${names(590)}`],
    ['pathspecs', `git log --${names(590)}`],
    ['commands', 'git log -3;'.repeat(250)],
    ['cd', 'cd a;'.repeat(24)],
    ['directories', `${'cd a;'.repeat(11)}rm${names(30)}`],
    ['file name patterns', `ls${' *'.repeat(250)}`],
    ['substitutions', `echo${' `a`'.repeat(120)}`],
    ['arithmetic', `echo $((${'1+'.repeat(1000)}1))`],
    ['letters', filled('ls', ` -${'l'.repeat(250)}`, 10_000)],
    ['words that could be several files', `unheard-of${' a=b:c'.repeat(195)}`],
  ])('%s', (_, line) => {
    const action = commandAction(PLACE, line);
    expect(action.isUnreadable).toBe(false);
    expectCpuBelow(15, () => decide(policy, commandAction(PLACE, line)));
  });

  test('a line with more files than that is not read', () => {
    for (const line of [`cp${names(310)} b`, `rm${names(610)}`]) expect(commandAction(PLACE, line).isUnreadable).toBe(true);
  });
});

describe('twice the words are at most twice the steps', () => {
  const policy = policyOf(fileText('config/policies/standard.yaml').replace(/^version:.*\n/m, ''));

  /** How often a decision reads a file, a word or an effect of the command. */
  function stepsOf(line: string): number {
    let steps = 0;
    const counted = <T>(items: readonly T[]): readonly T[] =>
      new Proxy(items, {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) steps++;
          return Reflect.get(target, key, receiver);
        },
      });
    const action = commandAction(PLACE, line);
    const commands = action.commands.map(({ argv, operands, meaning, ...command }) => ({
      ...command,
      argv: counted(argv),
      operands: counted(operands),
      meaning: meaning.isUnderstood ? { ...meaning, effects: counted(meaning.effects) } : meaning,
    }));
    decide(policy, { ...action, commands: counted(commands) });
    return steps;
  }

  test.each([
    ['reads', (count: number) => `cat${names(count)}`],
    ['copies', (count: number) => `cp${names(count)} b`],
    ['deletions', (count: number) => `rm${names(count)}`],
    ['pathspecs', (count: number) => `git log --${names(count)}`],
    ['revisions', (count: number) => `git diff${names(count)}`],
    ['options', (count: number) => `rg${names(count).replaceAll(' ', ' -g ')} x src`],
    ['commands', (count: number) => 'cat a;'.repeat(count / 4)],
    ['redirections', (count: number) => `cat a${names(count).replaceAll(' ', ' >')}`],
    ['commands inside a command', (count: number) => `find .${' -exec cat {} ;'.repeat(count / 8).replaceAll(';', '\\;')}`],
  ])('%s', (_, lineOf) => {
    const [few, many] = [stepsOf(lineOf(200)), stepsOf(lineOf(400))];
    expect(few).toBeGreaterThan(30);
    expect(many).toBeLessThan(2.2 * few);
  });
});

describe('long text is no work', () => {
  const text = "It's `some` text of a (file), with $words * and; more | of [them].\n";
  test.each([
    ['a here-document', `cat > notes.md <<'EOF'\n${filled('', text, 60_000)}EOF\ngit add notes.md`, []],
    ['a quoted word', `git commit -m '${filled('', text.replaceAll("'", ''), 60_000)}'`, []],
  ])('%s', (_, line, opaque) => {
    const action = commandAction(PLACE, line);
    expect(action.isUnreadable).toBe(false);
    expect(action.opaque).toEqual(opaque);
    expectCpuBelow(10, () => commandAction(PLACE, line));
  });
});
