// Warns about rules that cover less, or more, than they appear to. Not problems: the engine is safe with them.
import { programName } from '../commands/command-pattern.ts';
import { interpreterOf, WRAPPERS } from '../commands/programs.ts';
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
  return (rule.commands ?? []).flatMap(({ tokens, isOpen }) => {
    const [name, ...rest] = tokens;
    if (name === undefined) return [];
    if (!name.isFixed) return [warn('a wildcard for the program allows unexpected programs', 'name the programs, separated by "|"')];
    return name.choices.flatMap(({ source }) => {
      const program = programName(source);
      const isFixed = !isOpen && rest.every((token) => token.isFixed);
      if (WRAPPERS.has(program) && !WRAPPERS.get(program)?.subcommands && !isFixed)
        return [
          warn(
            `${program} starts another command, so only a rule that spells out every word ever matches`,
            'spell it out, or leave it to an ask',
          ),
        ];
      const isNamed = rest.some((token) => token.isFixed && token.choices.every((choice) => !choice.source.startsWith('-')));
      if (interpreterOf(program) !== undefined && !isFixed && !isNamed)
        return [warn(`${program} runs code, so a rule must name what it runs to match`, `such as ${program} scripts/build.js ...`)];
      return [];
    });
  });
}
