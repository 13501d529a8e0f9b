// Loads a policy from text: reads it strictly, then checks it against its own examples. Reports all problems at once.

import { LAYERS, type PolicyFile } from '../policy.ts';
import { checkExamples } from '../rules/examples.ts';
import { lint } from '../rules/lint.ts';
import { type Rule, VERDICTS } from '../rules/rule.ts';
import type { Problem } from './problem.ts';
import { readRule } from './read-rule.ts';
import { readSettings } from './read-settings.ts';
import { createReader, fields, oneOf } from './reader.ts';
import { parseTree } from './tree.ts';

const TOP_KEYS = ['version', 'default', 'layer', 'deny', 'ask', 'allow', 'agents', 'mcp', 'remember', 'limits'] as const;

export type Loaded =
  | { readonly policy: PolicyFile; readonly problems: readonly []; readonly warnings: readonly Problem[] }
  | { readonly policy: undefined; readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/** `file` is only a name: nothing is read. An unusable policy is `undefined` with its problems, never a partial one. */
export function loadPolicy(file: string, text: string): Loaded {
  const { tree, problems } = parseTree(file, text);
  if (tree === undefined) return { policy: undefined, problems, warnings: [] };
  const reader = createReader(file);
  const found = fields(reader, tree, '', TOP_KEYS);
  const { version } = found;
  if (version === undefined) reader.report(tree, '', 'missing key "version"', 'write "version: 1" at the top');
  else if (version.kind !== 'number' || version.number !== 1) reader.report(version, 'version', 'expected 1');

  const rules = VERDICTS.flatMap((verdict): Rule[] => {
    const list = found[verdict];
    if (list === undefined) return [];
    if (list.kind === 'list') return list.items.map((item, index) => readRule(reader, item, `${verdict}[${index}]`, verdict));
    if (list.kind !== 'nothing') reader.report(list, verdict, 'expected a list of rules');
    return [];
  });
  const policy: PolicyFile = {
    ...readSettings(reader, found),
    file,
    default: oneOf(reader, found.default, 'default', VERDICTS),
    layer: oneOf(reader, found.layer, 'layer', LAYERS),
    rules,
  };
  doubled(rules, (rule) => reader.report(rule, rule.id, 'two rules have this id'));
  const examples = reader.problems.length > 0 ? [] : checkExamples(rules);
  const all = [...reader.problems, ...examples];
  return all.length > 0 ? { policy: undefined, problems: all, warnings: [] } : { policy, problems: [], warnings: lint(rules) };
}

function doubled(rules: readonly Rule[], report: (rule: Rule) => void): void {
  const seen = new Set<string>();
  for (const rule of rules) {
    if (seen.has(rule.id)) report(rule);
    seen.add(rule.id);
  }
}
