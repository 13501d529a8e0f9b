// Adds a rule to the text of a policy. The rest of the text stays as it is, including comments, order and blanks.
import { isSeq, parseDocument, type Scalar, stringify } from 'yaml';
import { loadPolicy } from '../format/load.ts';
import type { Problem } from '../format/problem.ts';
import type { ProposedRule } from './propose-rule.ts';
import type { Verdict } from './rule.ts';

export type AddedRule = {
  readonly text: string;
  /** Its position, 1-based. */
  readonly line: number;
};

export type NotAdded = { readonly problems: readonly Pick<Problem, 'line' | 'column' | 'message' | 'hint'>[] };

/** The rule as YAML for a user to read and edit. */
export const ruleText = (rule: ProposedRule & { readonly reason?: string }): string => stringify(rule, { lineWidth: 0 });

/** `rule` is a map of keys, or a shorthand. If the rule itself is wrong, the problems give its own lines. */
export function addRule(file: string, text: string, verdict: Verdict, rule: string): AddedRule | NotAdded {
  const lines = rule.replaceAll('\r\n', '\n').trimEnd().split('\n');
  if (lines.every((line) => line.trim() === '')) return wrong(1, 'the rule is empty', 'name at least an action');
  const single = loadPolicy(file, `version: 1\n${verdict}:\n${indented(lines, '  ')}`);
  if (!single.policy) return { problems: single.problems.map((problem) => relativeTo(problem, verdict)) };
  if (single.policy.rules.length !== 1) return wrong(1, 'the text contains more than one rule', 'add one at a time');

  const before = loadPolicy(file, text);
  if (!before.policy) return { problems: before.problems };
  const at = placeIn(text, verdict);
  if (at === undefined)
    return wrong(1, `the rules under "${verdict}" are not written one below the other, so none can be added`, 'edit the file yourself');
  const [head, tail] = [text.slice(0, at.offset), text.slice(at.offset)];
  const start = head === '' || head.endsWith('\n') ? head : `${head}\n`;
  const added = `${start}${at.isNew ? `${verdict}:\n` : ''}${indented(lines, at.indent)}${tail}`;

  // The result must be the old rules and one more, whatever the text of the rule looks like.
  const after = loadPolicy(file, added);
  if (!after.policy) return { problems: after.problems };
  const [was, is] = [before.policy.rules, after.policy.rules].map((rules) => rules.filter((one) => one.verdict === verdict));
  const others = after.policy.rules.length - before.policy.rules.length;
  const mine = is?.[was?.length ?? 0];
  if (others !== 1 || mine === undefined) return wrong(1, 'the rule would change other parts of the policy', 'edit the file yourself');
  return { text: added, line: mine.line };
}

/** Positions relative to the rule, without its index in the list. */
function relativeTo({ line, column, message, hint }: Problem, verdict: Verdict): NotAdded['problems'][number] {
  const text = message.replace(`${verdict}[0]: `, '').replace(`${verdict}[0].`, '');
  return { line: Math.max(1, line - 2), column: Math.max(1, column - 4), message: text, ...(hint !== undefined && { hint }) };
}

const wrong = (line: number, message: string, hint: string): NotAdded => ({ problems: [{ line, column: 1, message, hint }] });

const indented = (lines: readonly string[], indent: string): string =>
  lines.map((line, index) => (line.trim() === '' ? '\n' : `${indent}${index === 0 ? '- ' : '  '}${line}\n`)).join('');

type At = { readonly offset: number; readonly indent: string; readonly isNew: boolean };

/** After the last rule of its verdict; undefined if a rule cannot be added there. */
function placeIn(text: string, verdict: Verdict): At | undefined {
  const document = parseDocument(text);
  const list = document.get(verdict, true);
  if (list === undefined) return { offset: text.length, indent: '  ', isNew: true };
  if (!isSeq(list) || list.flow || list.items.length === 0) return undefined;
  const last = list.items.at(-1) as Scalar;
  const [first] = list.items as Scalar[];
  const [begin] = first?.range ?? [];
  const [, end] = last.range ?? [];
  if (begin === undefined || end === undefined) return undefined;
  const lineStart = text.lastIndexOf('\n', begin - 1) + 1;
  const [, indent] = /^([ ]*)-[ ]/.exec(text.slice(lineStart, begin)) ?? [];
  if (indent === undefined) return undefined;
  const lineEnd = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1 || text.length;
  return { offset: lineEnd, indent, isNew: false };
}

// A rule as its author wrote it, without the indentation and the dash of the list. `line` is the rule's, 1-based.
export function sourceOf(text: string, line: number): string {
  const lines = text.split('\n').slice(line - 1);
  const [first = ''] = lines;
  const [, dash] = /^(\s*-\s+)/.exec(first) ?? [];
  if (dash === undefined) return first.trim(); // an item of a list in brackets
  const depth = dash.length;
  const end = lines.findIndex((one, index) => index > 0 && one.trim() !== '' && one.search(/\S/) < depth);
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((one) => one.slice(depth))
    .join('\n')
    .replace(/(?:\n\s*(?:#.*)?)+$/, '')
    .trimEnd();
}
