// Checks the examples inside rules. A policy whose rule fails its own example never comes into force.
import type { Action, Place } from '../actions/action.ts';
import { commandAction, hostAction, mcpAction, pathAction, toolAction } from '../actions/surfaces.ts';
import { decide } from '../decide.ts';
import type { Problem } from '../format/problem.ts';
import type { Policy } from '../policy.ts';
import type { Example, Rule } from './rule.ts';

/** `$cwd` and `$home` in examples. */
export const EXAMPLE_CWD = '/project';
export const EXAMPLE_HOME = '/home/user';

export function checkExamples(rules: readonly Rule[]): Problem[] {
  return rules.flatMap((rule) => [
    ...rule.match.flatMap((example) =>
      isMatched(rule, example) ? [] : [problem(rule, example, 'this example should match the rule, but does not')],
    ),
    ...rule.notMatch.flatMap((example) =>
      isMatched(rule, example) ? [problem(rule, example, 'this example should not match the rule, but does')] : [],
    ),
  ]);
}

export function countExamples(rules: readonly Rule[]): number {
  return rules.reduce((sum, { match, notMatch }) => sum + match.length + notMatch.length, 0);
}

function problem({ file, verdict }: Rule, { line, column, path }: Example, message: string): Problem {
  const hint = verdict === 'allow' ? 'every command and file in it must be covered, and nothing in it left to the shell' : undefined;
  return { file, line, column, path, message: `${path}: ${message}`, ...(hint !== undefined && { hint }) };
}

/** Only this rule, without protected files and other rules: an allow must cover the whole example, other rules one part of it. */
function isMatched(rule: Rule, example: Example): boolean {
  const layered = { rule, layer: 'user', onlyTightens: false } as const;
  const isAllow = rule.verdict === 'allow';
  const policy: Policy = { strict: isAllow ? [] : [layered], allow: isAllow ? [layered] : [], default: 'ask', settings: [] };
  const { rule: decisive } = decide(policy, actionOf(rule, example.text));
  return decisive !== undefined;
}

// The rule's keys decide what the example is: a command line, a path, a tool, a host.
function actionOf(rule: Rule, example: string): Action {
  const [agent] = rule.agents ?? [];
  const place: Place = {
    agent: agent?.source.replaceAll('*', 'x') ?? 'agent',
    cwd: EXAMPLE_CWD,
    home: EXAMPLE_HOME,
    interactive: rule.interactive ?? true,
  };
  const text = example.replace(/^\$cwd(?=\/|$)/, EXAMPLE_CWD).replace(/^\$home(?=\/|$)/, EXAMPLE_HOME);
  const [action = 'other'] = rule.actions ?? [];
  if (rule.mcp) {
    const [server = '', ...tool] = example.split(':');
    return mcpAction(place, { server, tool: tool.join(':'), args: {} });
  }
  if (rule.commands || action === 'execute') return commandAction(place, example);
  if (rule.paths) return rule.actions ? pathAction(place, action, text) : pathAction(place, 'read', text);
  if (rule.hosts) return hostAction(place, action === 'elicit' ? 'elicit' : 'fetch', example);
  return toolAction(place, action, example);
}
