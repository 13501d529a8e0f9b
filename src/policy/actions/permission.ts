// `session/request_permission` in the normal form: what the agent says it will do, and how well it says it.

import { type Analysis, analyseArgv, analyseLine } from '../commands/analyse.ts';
import { actionPath } from '../commands/operands.ts';
import { hostOf, resolvePath } from '../paths/path.ts';
import {
  ACTIONS,
  type Action,
  type ActionKind,
  type ActionPath,
  buildAction,
  directoryIn,
  type Evidence,
  type Facts,
  type Place,
  together,
} from './action.ts';
import { diffPaths, mcpInTitle, tableFor } from './agent-tools.ts';
import { type RawFacts, rawFacts, startOfPattern, textsOf } from './raw-input.ts';
import { list, mergeToolCall, record, string, type ToolCall } from './tool-call.ts';

/** Paths beyond this number are not read, and nothing allows the action. */
const MAX_PATHS = 1000;
const KINDS: ReadonlySet<string> = new Set(ACTIONS.slice(0, ACTIONS.indexOf('mcp')));

/**
 * `request` is the `params` of the request. `known` is what the session's table holds for its `toolCallId`: some agents (codex for MCP)
 * send only the id here.
 */
export function permissionAction(place: Place, request: unknown, known?: ToolCall): Action {
  return buildAction(place, () => factsOf(place, mergeToolCall(known, record(request).toolCall)));
}

/** The action of a tool call that an update reports, for actions taken without a permission request. */
export function toolCallAction(place: Place, call: ToolCall): Action {
  return buildAction(place, () => factsOf(place, mergeToolCall(undefined, call)));
}

function factsOf(place: Place, call: ToolCall): Facts {
  const table = tableFor(place.family, place.agent);
  const tool = table.toolName(call);
  const named = table.mcp(call, tool);
  const raw = rawFacts(call.rawInput);
  const kind = KINDS.has(string(call.kind) ?? '') ? (call.kind as ActionKind) : undefined;
  const known = tool !== undefined && Object.hasOwn(table.tools, tool) ? table.tools[tool] : undefined;

  const commands = readCommands(place, raw);
  const mcp = named ?? (commands.commands.length > 0 ? undefined : mcpInTitle(call));
  const isRun = mcp === undefined && commands.commands.length > 0;
  const title = readTitle(place, call, raw, kind === 'execute' || known === 'execute');
  const diffs = diffPaths(call);
  const claimed = mcp ? 'mcp' : isRun ? 'execute' : actionOf(known, kind, raw.isWrite || diffs.length > 0);
  // A thought needs neither a file nor an address.
  const action = claimed === 'think' && raw.paths.length + raw.urls.length + list(call.locations).length > 0 ? 'other' : claimed;
  const starts =
    action === 'search' && !(tool !== undefined && table.textSearches?.includes(tool))
      ? raw.patterns.flatMap((pattern) => startOfPattern(pattern) ?? [])
      : [];
  const patternDoubts = starts.flatMap(({ doubt }) => doubt ?? []);
  const paths = readPaths(place, call, raw, [...diffs, ...starts.map(({ path }) => path)], action);
  const hosts = raw.urls.flatMap((url) => hostOf(url) ?? []);

  // A name taken only from the call's id (gemini) is worth no more than a title.
  const isNamed = tool !== undefined && (string(call.name) !== undefined || Object.keys(record(call.rawInput)).length > 0);
  const isKindOnly = mcp === undefined && !isRun && known === undefined && paths.length === 0 && hosts.length === 0;
  const settled = isKindOnly && action !== 'execute' ? 'other' : action;
  const isCut = paths.length >= MAX_PATHS;
  const opaque = mcp ? [] : [...commands.opaque, ...raw.doubts, ...patternDoubts, ...(isCut ? ['more files than are looked at'] : [])];
  return {
    kind: settled,
    claims: claimsOf(settled, [
      kind,
      known,
      action,
      raw.isWrite || diffs.length > 0 ? 'edit' : undefined,
      commands.commands.length > 0 ? 'execute' : undefined,
    ]),
    tool,
    mcp,
    // In an MCP call, `command` is an argument like any other: deny rules see it, but the rule that allows must name the tool.
    commands: [
      ...(mcp ? commands.commands.map((command) => ({ ...command, where: 'within' as const })) : commands.commands),
      ...title.commands,
    ],
    opaque,
    isUnreadable: commands.isUnreadable,
    paths,
    hosts,
    texts: textsOf(raw),
    evidence: mcp && !named ? 'title' : evidenceOf(settled, named !== undefined || isRun, paths, isNamed || hosts.length > 0, call),
  };
}

function claimsOf(settled: ActionKind, claims: readonly (ActionKind | undefined)[]): ActionKind[] {
  return [...new Set(claims)].flatMap((claim) => (claim === undefined || claim === settled ? [] : [claim]));
}

function readCommands(place: Place, { lines, argvs, workdir }: RawFacts): Analysis {
  const { cwd, opaque } = workdir === undefined ? { cwd: place.cwd, opaque: [] } : directoryIn(place, workdir);
  return together([
    { commands: [], opaque, isUnreadable: false },
    ...lines.map((line) => analyseLine(line, cwd, place, 'raw')),
    ...argvs.map((argv) => analyseArgv(argv, cwd, place, 'raw')),
  ]);
}

// Gemini shows a command only in the title. Rules can deny it or ask, never allow it.
function readTitle(place: Place, call: ToolCall, { lines }: RawFacts, isExecution: boolean): Analysis {
  const title = string(call.title)?.replace(/^`+|`+$/g, '');
  if (title === undefined || !isExecution || lines.includes(title)) return together([]);
  const { commands, isUnreadable } = analyseLine(title, place.cwd, place, 'title');
  return { commands: commands.map((command) => ({ ...command, where: 'within' })), opaque: [], isUnreadable };
}

/** The tool's name is more reliable than the kind, but the more dangerous of the two counts. */
function actionOf(known: ActionKind | undefined, kind: ActionKind | undefined, isWrite: boolean): ActionKind {
  const claimed = known ?? kind ?? 'other';
  const isTame = claimed === 'read' || claimed === 'search' || claimed === 'think' || claimed === 'other' || claimed === 'fetch';
  if (!isTame) return claimed;
  if (kind === 'execute' || kind === 'delete' || kind === 'move') return kind;
  return isWrite || kind === 'edit' ? 'edit' : claimed;
}

function readPaths(place: Place, call: ToolCall, raw: RawFacts, others: readonly string[], action: ActionKind): ActionPath[] {
  const access =
    action === 'read' || action === 'search' ? 'read' : action === 'edit' || action === 'delete' || action === 'move' ? 'write' : 'unknown';
  const base = raw.workdir === undefined || action === 'execute' ? place.cwd : resolvePath(place.cwd, raw.workdir);
  const found = new Map<string, ActionPath>();
  const seen = new Set<string>();
  const add = (text: string, evidence: Evidence) => {
    // Each path is looked up on the disk, which blocks every other session.
    if (seen.has(text) || seen.size >= MAX_PATHS) return;
    seen.add(text);
    const path = actionPath(text, base, place, access, evidence);
    if (!found.has(`${path.written}\n${path.path}`)) found.set(`${path.written}\n${path.path}`, path);
  };
  // Tools differ: for some `link/..` is the parent of the link's target, for others the link's own directory. Both must match.
  const addBoth = (path: string, evidence: Evidence) => {
    add(path, evidence);
    if (path.includes('..')) add(resolvePath(base, path), evidence);
  };
  for (const path of [...raw.paths, ...others]) addBoth(path, 'raw');
  for (const location of list(call.locations)) {
    const path = string(record(location).path);
    if (path !== undefined) addBoth(path, 'locations');
  }
  // A search without a directory searches the session's directory.
  if (action === 'search' && found.size === 0 && Object.keys(record(call.rawInput)).length > 0) add(raw.workdir ?? '.', 'raw');
  return [...found.values()];
}

function evidenceOf(action: ActionKind, isRaw: boolean, paths: readonly ActionPath[], isNamed: boolean, call: ToolCall): Evidence {
  if (isRaw) return 'raw';
  if (action === 'execute') return string(call.title) === undefined ? 'none' : 'title';
  if (paths.length > 0) return paths.every(({ evidence }) => evidence === 'raw') ? 'raw' : 'locations';
  if (isNamed) return 'raw';
  return string(call.title) === undefined ? 'none' : 'title';
}
