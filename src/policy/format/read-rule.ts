// One rule from its text: the long form with its keys, or the shorthand.
import { ACTIONS, type ActionKind, EVIDENCE } from '../actions/action.ts';
import { compileCommand } from '../commands/command-pattern.ts';
import { compileHost, compileNameGlob, type NameGlob } from '../paths/name-glob.ts';
import { compilePathGlob } from '../paths/path-glob.ts';
import { type ArgTest, matchesRegex, oneOfValues, type Scalar } from '../rules/args-test.ts';
import { type Example, NO_CONDITIONS, type Rule, type Verdict } from '../rules/rule.ts';
import { didYouMean } from './nearest.ts';
import { fields, flag, oneOf, oneOrMany, type Reader, type Spotted, text, texts } from './reader.ts';
import type { Tree } from './tree.ts';

// `execute(npm test ...)`, `edit($cwd/src/**)`, `mcp(github:get_*)`, `fetch`: a whole rule in one string. The key that the text in brackets
// belongs to.
const INSIDE: Readonly<Record<ActionKind, 'command' | 'path' | 'host' | 'mcp' | 'tool'>> = {
  read: 'path',
  edit: 'path',
  delete: 'path',
  move: 'path',
  search: 'path',
  execute: 'command',
  fetch: 'host',
  elicit: 'host',
  mcp: 'mcp',
  think: 'tool',
  switch_mode: 'tool',
  mode: 'tool',
  other: 'tool',
  delegate: 'tool', // the agent that is asked
};

export type Shorthand = {
  readonly action: ActionKind;
  readonly key?: 'command' | 'path' | 'host' | 'mcp' | 'tool';
  readonly inside?: string;
  /** `execute!(…)` */
  readonly isTrusted?: true;
};

export function parseShorthand(text: string): Shorthand | { readonly wrong: string; readonly hint?: string | undefined } {
  const found = /^\s*([A-Za-z_]+)(!)?\s*(?:\((.*)\))?\s*$/s.exec(text);
  if (!found) return { wrong: 'expected a rule such as execute(npm test ...), edit($cwd/src/**) or mcp(server:tool)' };
  const [, name = '', trust, inside] = found;
  const action = ACTIONS.find((known) => known === name);
  if (action === undefined)
    return { wrong: `expected an action before the bracket: ${ACTIONS.join(', ')}`, hint: didYouMean(name, ACTIONS) };
  if (trust !== undefined && (action !== 'execute' || inside === undefined))
    return { wrong: 'only a command can be trusted, as in execute!(prog ...)' };
  if (inside === undefined) return { action };
  if (inside.trim() === '') return { wrong: 'the brackets are empty', hint: `leave them out to mean every ${action}` };
  return { action, key: INSIDE[action], inside: inside.trim(), ...(trust !== undefined && { isTrusted: true as const }) };
}

const RULE_KEYS = [
  ...(['action', 'agent', 'tool', 'mcp', 'command', 'path', 'host', 'args', 'cwd', 'trust', 'interactive', 'evidence'] as const),
  ...(['reason', 'id', 'match', 'not_match'] as const),
] as const;

export function readRule(reader: Reader, tree: Tree, path: string, verdict: Verdict): Rule {
  const start = { ...NO_CONDITIONS, verdict, id: path, file: reader.file, line: tree.line, column: tree.column };
  return tree.kind === 'text' ? readShort(reader, tree, tree.text, path, start) : readLong(reader, tree, path, start);
}

function readShort(reader: Reader, tree: Tree, source: string, path: string, start: Rule): Rule {
  const short = parseShorthand(source);
  if ('wrong' in short) {
    reader.report(tree, path, short.wrong, short.hint);
    return start;
  }
  const actions = new Set([short.action]);
  if (short.inside === undefined) return { ...start, actions };
  const value: readonly Spotted[] = [{ text: short.inside, path, line: tree.line, column: tree.column }];
  if (short.isTrusted && start.verdict !== 'allow') reader.report(tree, path, 'only an allow rule can trust a command');
  return { ...start, actions, ...compileKeys(reader, { [short.key ?? 'tool']: value }), isTrusted: short.isTrusted === true };
}

function readLong(reader: Reader, tree: Tree, path: string, start: Rule): Rule {
  if (tree.kind !== 'map') {
    reader.report(tree, path, 'expected a rule: a map, or a string such as execute(npm test ...)');
    return start;
  }
  const found = fields(reader, tree, path, RULE_KEYS);
  if (tree.entries.size === 0) reader.report(tree, path, 'an empty rule would match everything', 'name at least an action');
  const at = (key: keyof typeof found) => `${path}.${key}`;
  const words = (key: 'agent' | 'tool' | 'mcp' | 'command' | 'path' | 'host' | 'cwd') => texts(reader, found[key], at(key));
  const actions = oneOrMany(reader, found.action, at('action'))?.map((item) => oneOf(reader, item.tree, item.path, ACTIONS));
  const evidence = oneOrMany(reader, found.evidence, at('evidence'))?.map((item) => oneOf(reader, item.tree, item.path, EVIDENCE));
  const keys = {
    agent: words('agent'),
    tool: words('tool'),
    mcp: words('mcp'),
    command: words('command'),
    path: words('path'),
    host: words('host'),
    cwd: words('cwd'),
  };
  const args = readArgs(reader, found.args, at('args'));
  if (args !== undefined && keys.mcp === undefined) reader.report(found.args ?? tree, at('args'), 'needs "mcp" in the same rule');
  if (keys.command !== undefined && keys.mcp !== undefined) reader.report(tree, path, '"command" and "mcp" never match the same request');
  const isTrusted = flag(reader, found.trust, at('trust')) === true;
  if (isTrusted && (keys.command === undefined || start.verdict !== 'allow'))
    reader.report(found.trust ?? tree, at('trust'), 'needs "command" in the same rule, which must be an allow');
  return {
    ...start,
    ...compileKeys(reader, keys),
    isTrusted,
    id: text(reader, found.id, at('id')) ?? path,
    reason: text(reader, found.reason, at('reason')),
    actions: actions && new Set(actions.flatMap((action) => (action === undefined ? [] : [action]))),
    evidence: evidence && new Set(evidence.flatMap((level) => (level === undefined ? [] : [level]))),
    interactive: flag(reader, found.interactive, at('interactive')),
    args,
    match: examples(texts(reader, found.match, at('match'))),
    notMatch: examples(texts(reader, found.not_match, at('not_match'))),
  };
}

const examples = (found: readonly Spotted[] | undefined): readonly Example[] => found ?? [];

type Keys = Partial<Record<'agent' | 'tool' | 'mcp' | 'command' | 'path' | 'host' | 'cwd', readonly Spotted[] | undefined>>;

function compileKeys(reader: Reader, { agent, tool, mcp, command, path, host, cwd }: Keys) {
  const each = <Compiled extends object>(values: readonly Spotted[] | undefined, compile: (source: string) => Compiled | Wrong) =>
    values?.flatMap((value) => {
      const compiled = compile(value.text);
      if (!('wrong' in compiled)) return [compiled as Compiled];
      reader.report(value, value.path, compiled.wrong, compiled.hint);
      return [];
    });
  return {
    agents: each(agent, (source) => compileNameGlob(source)),
    tools: each(tool, (source) => withFormerNames(compileNameGlob(source))),
    mcp: each(mcp, compileTool),
    commands: each(command, compileCommand),
    paths: each(path, compilePathGlob),
    hosts: each(host, compileHost),
    cwds: each(cwd, compilePathGlob),
  };
}

type Wrong = { readonly wrong: string; readonly hint?: string };

/** `server:tool`; both may contain a `*`. */
export function compileTool(source: string): NameGlob | Wrong {
  if (!/^[^:\s]+:[^\s]+$/.test(source)) return { wrong: 'expected server:tool', hint: 'for every tool of a server write server:*' };
  return withFormerNames(compileNameGlob(source));
}

/** Host tools that had another name: a rule that names the former one means the tool. */
const FORMER_NAMES: Readonly<Record<string, string>> = { ask_question: 'ask_user', 'switchboard:ask_question': 'switchboard:ask_user' };

const withFormerNames = (glob: NameGlob): NameGlob => ({
  source: glob.source,
  matches(name) {
    const former = FORMER_NAMES[name];
    return glob.matches(name) || (former !== undefined && glob.matches(former));
  },
});

function readArgs(reader: Reader, tree: Tree | undefined, path: string): ArgTest[] | undefined {
  if (tree === undefined) return undefined;
  if (tree.kind !== 'map') {
    reader.report(tree, path, 'expected a map from a JSON pointer such as /owner to the values it may have');
    return [];
  }
  return [...tree.entries].flatMap(([pointer, { key, value }]) => {
    const here = `${path}[${JSON.stringify(pointer)}]`;
    if (!pointer.startsWith('/')) reader.report(key, here, 'a JSON pointer starts with "/"');
    if (value.kind === 'map') {
      const regex = text(reader, fields(reader, value, here, ['regex']).regex, `${here}.regex`);
      const test = regex === undefined ? undefined : matchesRegex(pointer, regex);
      if (regex !== undefined && test === undefined) reader.report(value, `${here}.regex`, 'not a valid regular expression (RE2 syntax)');
      return test ? [test] : [];
    }
    const values = (oneOrMany(reader, value, here) ?? []).flatMap((item): Scalar[] => {
      if (item.tree.kind === 'text') return [item.tree.text];
      if (item.tree.kind === 'number') return [item.tree.number];
      if (item.tree.kind === 'flag') return [item.tree.flag];
      reader.report(item.tree, item.path, 'expected a string, a number, true or false');
      return [];
    });
    return [oneOfValues(pointer, values)];
  });
}
