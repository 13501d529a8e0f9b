// What a permission request asks for, in words: one description for `run`, `mcp` and the console. The agent wrote the request, so its texts are
// made safe to show, and nothing that it carries is left out silently.
import { escapeControls, withoutControls } from '../control-characters.ts';
import { fields, type JsonObject, list, textOf } from '../json-object.ts';
import { type DiffLine, diffLines } from './diff-lines.ts';

export type PermissionOption = { readonly optionId: string; readonly name: string; readonly kind: string };

/** The policy's decision that the user should be asked. */
export type PolicyView = { readonly verdict: string; readonly why: string };

export type PermissionContext = {
  readonly agent?: string | undefined;
  readonly cwd?: string | undefined;
  readonly policy?: PolicyView | undefined;
  /** What earlier updates reported about the tool call: some agents send only its id here. */
  readonly known?: JsonObject | undefined;
};

export type PermissionDiff = { readonly path: string; readonly lines: readonly DiffLine[] };

export type DescribedPermission = {
  readonly title: string;
  readonly kind: string;
  readonly agent: string | undefined;
  readonly cwd: string | undefined;
  /** The command line, if the agent reports it. */
  readonly command: string | undefined;
  readonly paths: readonly string[];
  readonly diffs: readonly PermissionDiff[];
  /** Other texts that the agent shows. */
  readonly notes: readonly string[];
  /** The tool's input as JSON, where it says more than the command. */
  readonly input: string | undefined;
  readonly policy: PolicyView | undefined;
  readonly options: readonly PermissionOption[];
};

/** `params` of `session/request_permission`. */
export function describePermission(params: unknown, { agent, cwd, policy, known = {} }: PermissionContext = {}): DescribedPermission {
  const { toolCall, options } = fields(params);
  const call = { ...known, ...given(fields(toolCall)) };
  const content = list(call.content).map(fields);
  const diffs = content.filter(({ type }) => type === 'diff');
  const command = commandIn(fields(call.rawInput));
  return {
    // On one line: a title with line feeds could imitate the lines below it.
    title: escapeControls(textOf(call.title) ?? 'an action without a title'),
    kind: textOf(call.kind) ?? 'other',
    agent,
    cwd,
    command: command === undefined ? undefined : withoutControls(command),
    paths: pathsIn(call, diffs).map(escapeControls),
    diffs: diffs.map(({ path, oldText, newText }) => ({
      path: escapeControls(String(path)),
      lines: diffLines(textOf(oldText) ?? '', textOf(newText) ?? '').map(({ kind, text }) => ({ kind, text: withoutControls(text) })),
    })),
    notes: content.flatMap((entry) => withoutControls(textOf(fields(entry.content).text) ?? '') || []),
    input: inputIn(call.rawInput, command),
    policy,
    options: list(options).map((option) => {
      const { optionId, name, kind } = fields(option);
      return { optionId: String(optionId), name: escapeControls(textOf(name) ?? ''), kind: textOf(kind) ?? '' };
    }),
  };
}

/** Fields that are present: an absent one does not hide what is known. */
const given = (call: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined && value !== null));

/** The command line in a tool's input: text, or a list of words. */
function commandIn({ command, args }: JsonObject): string | undefined {
  if (Array.isArray(command)) return command.map(String).map(quoted).join(' ');
  if (typeof command !== 'string') return undefined;
  return Array.isArray(args) ? [command, ...args.map(String)].map(quoted).join(' ') : command;
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function pathsIn(call: JsonObject, diffs: readonly JsonObject[]): string[] {
  const located = list(call.locations).flatMap((one) => textOf(fields(one).path) ?? []);
  return [...new Set([...diffs.flatMap(({ path }) => textOf(path) ?? []), ...located])];
}

function inputIn(rawInput: unknown, command: string | undefined): string | undefined {
  const rest = Object.entries(fields(rawInput)).filter(([key]) => command === undefined || (key !== 'command' && key !== 'args'));
  return rest.length === 0 ? undefined : withoutControls(JSON.stringify(Object.fromEntries(rest)));
}

export type TextLimits = { readonly diffLines: number; readonly characters: number };

export const TEXT_LIMITS: TextLimits = { diffLines: 60, characters: 2000 };

const MARKS = { same: ' ', added: '+', removed: '-', hunk: '' } as const;

/** The request as lines of text, without its options. What is shortened says so. */
export function permissionLines(request: DescribedPermission, limits: TextLimits = TEXT_LIMITS): readonly string[] {
  const { title, agent, cwd, command, paths, diffs, notes, input, policy } = request;
  const short = (text: string) => shortened(text, limits.characters);
  const shown = new Set(diffs.map(({ path }) => path));
  const others = paths.filter((path) => !shown.has(path));
  return [
    `${agent === undefined ? 'The agent' : `Agent ${agent}`} asks for permission: ${short(title)}`,
    ...(cwd === undefined ? [] : [`Directory: ${cwd}`]),
    ...(command === undefined ? [] : ['Command:', ...short(command).split('\n').map(indented)]),
    ...(others.length === 0 ? [] : [`Files: ${short(others.join(', '))}`]),
    ...diffs.flatMap((diff) => diffText(diff, limits)),
    ...notes.flatMap((note) => ['The agent says:', ...short(note).split('\n').map(indented)]),
    ...(input === undefined ? [] : [`Input: ${short(input)}`]),
    ...(policy === undefined ? [] : [`Policy: ${policy.verdict}, ${policy.why}`]),
  ];
}

const indented = (line: string): string => `  ${line}`;

function diffText({ path, lines }: PermissionDiff, limits: TextLimits): readonly string[] {
  const first = lines.slice(0, limits.diffLines);
  const left = lines.length - first.length;
  return [
    `Changes to ${path}${left > 0 ? ` (the first ${first.length} of ${lines.length} lines)` : ''}:`,
    ...first.map(({ kind, text }) => indented(shortened(`${MARKS[kind]}${text}`, limits.characters))),
    ...(left > 0 ? [`  [${left} more lines are not shown]`] : []),
  ];
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)} [${text.length - most} more characters are not shown]`;
}
