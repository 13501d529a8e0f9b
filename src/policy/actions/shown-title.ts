// What a permission request really does, for the person who is asked: by its input, not by the agent's title.
import { escapeControls } from '../../control-characters.ts';
import { PROGRAM_TABLE } from '../commands/programs/index.ts';
import { entryOf } from '../commands/table/parse.ts';
import { isInside } from '../paths/path.ts';
import type { Action, ActionKind } from './action.ts';
import { rawFacts } from './raw-input.ts';
import { string, type ToolCall } from './tool-call.ts';

export type Question = {
  /** What it does comes first, then the agent's own words. */
  readonly title: string;
  /** The agent's title names something else. */
  readonly isContradicted: boolean;
};

type Fact = {
  /** The beginning of a sentence: `Run`. */
  readonly does: string;
  readonly what: string;
  /** Any of these in the title shows it. */
  readonly shownBy: readonly string[];
};

const MAX_SHOWN = 500;
const MAX_FACTS = 5;
const DOES: Readonly<Partial<Record<ActionKind, string>>> = {
  read: 'Read',
  search: 'Search',
  edit: 'Edit',
  delete: 'Delete',
  move: 'Move',
};

/** Undefined if the agent's title says it all, or if nothing but the title is known. */
export function shownTitleOf(action: Action, call: ToolCall): Question | undefined {
  const raw = rawFacts(call.rawInput);
  const facts = factsOf(action, [...raw.lines, ...raw.argvs.map((argv) => argv.join(' '))]);
  if (facts.length === 0) return undefined;
  const title = string(call.title) ?? '';
  const titleText = plain(title);
  const isShown = titleText !== '' && facts.every(({ shownBy }) => shownBy.some((text) => titleText.includes(plain(text))));
  const isContradicted = !isShown && namesOther(titleText, facts, action);
  const hidden = action.mcp === undefined ? raw.doubts : [];
  if (isShown && hidden.length === 0) return undefined;
  const truth = hidden.length === 0 ? listed(facts) : `${listed(facts)} (also: ${hidden.join(', ')})`;
  if (title === '') return { title: truth, isContradicted };
  const own = `“${cut(escapeControls(title))}”`;
  return { title: isContradicted ? `The title is not what this does. ${truth}. Title: ${own}` : `${truth} (${own})`, isContradicted };
}

function factsOf({ kind, mcp, cwd, home, paths, hosts, commands, claims }: Action, lines: readonly string[]): readonly Fact[] {
  if (mcp) return [{ does: 'Call', what: `${mcp.server}:${mcp.tool}`, shownBy: [mcp.tool] }];
  const isRun = lines.length > 0;
  const isWrite = claims.includes('edit');
  const at = commands.find(({ where, evidence }) => where === 'line' && evidence === 'raw')?.cwds[0];
  const isElsewhere = at !== undefined && at !== cwd;
  // Agents list the files that a command is about; those that it also writes, or that are elsewhere, are a part of the request.
  const files = paths.filter(({ path, evidence }) => evidence !== 'title' && (isRun ? isWrite || !isInside(cwd, path) : path !== cwd));
  const named = new Set(commands.flatMap((command) => command.hosts));
  return [
    ...lines.map((line) =>
      isElsewhere ? { does: 'Run', what: `${line} (in ${at})`, shownBy: [] } : { does: 'Run', what: line, shownBy: [line] },
    ),
    ...files.map(({ path, written }) => ({
      does: isRun ? (isWrite ? 'Edit' : 'Use') : (DOES[kind] ?? 'Use'),
      // A link is not what it seems.
      what: path === written ? path : `${written} (${path})`,
      shownBy: path === written ? namesOf(path, cwd, home) : [path],
    })),
    ...hosts.filter((host) => !named.has(host)).map((host) => ({ does: 'Connect to', what: host, shownBy: [host] })),
  ];
}

function namesOf(path: string, cwd: string, home: string | undefined): readonly string[] {
  const below = (root: string, prefix: string) =>
    isInside(root, path) && path !== root ? [`${prefix}${path.slice(root === '/' ? 1 : root.length + 1)}`] : [];
  return [path, ...below(cwd, ''), ...(home === undefined ? [] : below(home, '~/'))];
}

function listed(facts: readonly Fact[]): string {
  const shown = facts.slice(0, MAX_FACTS).map(({ does, what }) => `${does} ${cut(escapeControls(what.replaceAll('\n', ' ⏎ ')))}`);
  return [...shown, ...(facts.length > MAX_FACTS ? [`${facts.length - MAX_FACTS} more`] : [])].join('; ');
}

const cut = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length - MAX_SHOWN} more characters)`;

/** Without what agents put around a command or a name. */
const plain = (text: string): string => text.replace(/[`"'“”\s]+/g, ' ').trim();

const NAME = /(?:^|\s)((?:~?\/|\.{1,2}\/)[^\s,;:)]+|[\w.-]+\/[\w./-]+|[\w-]*\.[a-z]\w{0,4})(?=$|[\s,;:)])/g;

// Whether the title names a program, a file or a host that is not part of the request.
function namesOther(titleText: string, facts: readonly Fact[], { commands }: Action): boolean {
  const all = facts.flatMap(({ shownBy, what }) => [what, ...shownBy]).map(plain);
  const [first = ''] = titleText.replace(/^(?:run(?:ning)?|execut(?:e|ing)|call|\$)[: ]+/i, '').split(' ');
  if (entryOf(PROGRAM_TABLE, first) !== undefined && !commands.some(({ evidence, argv }) => evidence === 'raw' && argv[0] === first))
    return true;
  return [...titleText.matchAll(NAME)].some(([, name = '']) => !all.some((fact) => fact.includes(name)));
}
