// `switchboard policy test FILE [CASES]`: runs the examples in the rules, then cases with an expected verdict.
import path from 'node:path';
import { ACTIONS, type Action, type Place } from '../../policy/actions/action.ts';
import { commandAction, hostAction, mcpAction, pathAction, toolAction } from '../../policy/actions/surfaces.ts';
import { decide } from '../../policy/decide.ts';
import type { Problem } from '../../policy/format/problem.ts';
import { createReader, fields, flag, oneOf, type Reader, text } from '../../policy/format/reader.ts';
import { parseTree, type Tree } from '../../policy/format/tree.ts';
import { currentRuleId } from '../../policy/paths/protected-files.ts';
import { countExamples, EXAMPLE_CWD, EXAMPLE_HOME } from '../../policy/rules/examples.ts';
import { combine } from '../../policy/rules/layers.ts';
import { VERDICTS, type Verdict } from '../../policy/rules/rule.ts';
import { readInput } from '../resolve-config.ts';
import { readPolicyOrComplain } from './check.ts';
import { complain, complainAbout, print, printData } from './output.ts';

const CASE_KEYS = ['command', 'path', 'action', 'tool', 'mcp', 'host', 'agent', 'cwd', 'headless', 'verdict', 'rule'] as const;
const FOUND_PROBLEMS = 8;

type Case = { readonly line: number; readonly action: Action; readonly verdict: Verdict; readonly rule: string | undefined };

export async function policyTest(file: string, casesFile: string | undefined, flags: { readonly json?: true }): Promise<number> {
  const policyFile = await readPolicyOrComplain(file, flags);
  if (policyFile === undefined) return 6;
  const policy = combine([{ name: 'command-line', policy: policyFile }]);
  const { cases, problems } = casesFile === undefined ? { cases: [], problems: [] } : await readCases(casesFile);
  if (problems.length > 0) {
    complainAbout('CASES_INVALID', problems, flags);
    return 6;
  }
  const failures = cases.flatMap(({ line, action, verdict, rule }) => {
    const got = decide(policy, action);
    const isRight = got.verdict === verdict && (rule === undefined || got.rule?.id === rule || got.rule?.id === currentRuleId(rule));
    return isRight ? [] : [{ file: casesFile, line, expected: verdict, rule, got: got.verdict, why: got.why }];
  });
  const examples = countExamples(policyFile.rules);
  if (flags.json) printData({ examples, cases: cases.length, failures });
  else {
    for (const { file: at, line, expected, rule, got, why } of failures)
      complain(`${at}:${line}: expected ${expected}${rule === undefined ? '' : ` by ${rule}`}, got ${got}: ${why}`);
    print(`${examples} examples and ${cases.length - failures.length} of ${cases.length} cases as expected`);
  }
  return failures.length > 0 ? FOUND_PROBLEMS : 0;
}

async function readCases(file: string): Promise<{ readonly cases: readonly Case[]; readonly problems: readonly Problem[] }> {
  const source = await readInput('the cases', file);
  const { tree, problems } = parseTree(file, source);
  if (tree === undefined) return { cases: [], problems };
  const reader = createReader(file);
  if (tree.kind !== 'list') reader.report(tree, '', 'expected a list of cases, such as { command: "git status", verdict: allow }');
  const cases = tree.kind === 'list' ? tree.items.flatMap((item, index) => readCase(reader, item, `[${index}]`)) : [];
  return { cases, problems: reader.problems };
}

function readCase(reader: Reader, tree: Tree, at: string): Case[] {
  const found = fields(reader, tree, at, CASE_KEYS);
  const word = (key: Exclude<(typeof CASE_KEYS)[number], 'headless' | 'verdict'>) => text(reader, found[key], `${at}.${key}`);
  const verdict = oneOf(reader, found.verdict, `${at}.verdict`, VERDICTS);
  if (found.verdict === undefined) reader.report(tree, at, 'missing key "verdict"', `expected ${VERDICTS.join(', ')}`);
  const cwd = word('cwd') ?? EXAMPLE_CWD;
  const place: Place = {
    agent: word('agent') ?? 'agent',
    cwd: path.posix.resolve('/', cwd),
    home: EXAMPLE_HOME,
    interactive: flag(reader, found.headless, `${at}.headless`) !== true,
  };
  const expanded = (value: string) => value.replace(/^\$cwd(?=\/|$)/, place.cwd).replace(/^\$home(?=\/|$)/, EXAMPLE_HOME);
  const [command, file, tool, mcp, host] = [word('command'), word('path'), word('tool'), word('mcp'), word('host')];
  const action = oneOf(reader, found.action, `${at}.action`, ACTIONS);
  const actions = [
    command === undefined ? [] : [() => commandAction(place, command)],
    file === undefined ? [] : [() => pathAction(place, action ?? 'edit', expanded(file))],
    tool === undefined ? [] : [() => toolAction(place, action ?? 'other', tool)],
    host === undefined ? [] : [() => hostAction(place, action === 'elicit' ? 'elicit' : 'fetch', host)],
    mcp === undefined
      ? []
      : [() => mcpAction(place, { server: mcp.split(':')[0] ?? '', tool: mcp.split(':').slice(1).join(':'), args: {} })],
  ].flat();
  const [ask] = actions;
  if (actions.length !== 1) reader.report(tree, at, 'expected one of command, path, tool, mcp and host');
  return ask === undefined || verdict === undefined ? [] : [{ line: tree.line, action: ask(), verdict, rule: word('rule') }];
}
