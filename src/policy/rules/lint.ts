// Warns about rules that cover less, or more, than they appear to. Not problems: the engine is safe with them.
import { programName } from '../commands/command-pattern.ts';
import { PROGRAM_TABLE } from '../commands/programs/index.ts';
import { entryOf } from '../commands/table/parse.ts';
import { interpreterOf, WRAPPERS } from '../commands/wrappers.ts';
import type { Problem } from '../format/problem.ts';
import type { Rule } from './rule.ts';

export function lint(rules: readonly Rule[]): Problem[] {
  return rules.flatMap((rule) => (rule.verdict === 'allow' ? lintAllow(rule) : []));
}

function lintAllow(rule: Rule): Problem[] {
  const warn = (message: string, hint: string): Problem => ({
    file: rule.file,
    line: rule.line,
    column: rule.column,
    path: rule.id,
    message: `${rule.id}: ${message}`,
    hint,
  });
  return (rule.commands ?? []).flatMap(({ tokens, isOpen, source: pattern }) => {
    const [name, ...rest] = tokens;
    if (name === undefined) return [];
    if (rule.isTrusted)
      return [warn(`"${pattern}" is trusted with any arguments, whatever they do`, 'without "!" what it does is evaluated')];
    if (!name.isFixed) return [warn('a wildcard for the program allows unexpected programs', 'name the programs, separated by "|"')];
    const isFixed = !isOpen && rest.every((token) => token.isFixed);
    if (isFixed) return [];
    return name.choices.flatMap(({ source }) => {
      const program = programName(source);
      const entry = entryOf(PROGRAM_TABLE, source);
      if (entry === undefined)
        return [
          warn(
            `"${source}" is not in the program table, so this pattern allows nothing`,
            `spell out every word, or trust it with any arguments: execute!(${source} ...)`,
          ),
        ];
      const isNamed = rest.some((token) => token.choices.every((choice) => !/^[-*]/.test(choice.source)));
      if (isNamed) return [];
      if (WRAPPERS.has(program) && !WRAPPERS.get(program)?.subcommands)
        return [
          warn(
            `${program} starts another command, so a rule must name that to match`,
            `such as ${program} ... with the command spelled out`,
          ),
        ];
      if (interpreterOf(program) !== undefined && entry.parse === 'first')
        return [warn(`${program} runs code, so a rule must name what it runs to match`, `such as ${program} scripts/build.js ...`)];
      return [];
    });
  });
}
