// Every other request in the normal form: files, terminals, MCP calls, elicitations, modes. The switchboard carries these out, so the
// evidence is `raw`.

import { analyseArgv, analyseLine } from '../commands/analyse.ts';
import { isTameVariable } from '../commands/environment.ts';
import { actionPath } from '../commands/operands.ts';
import { hostOf, resolvePath } from '../paths/path.ts';
import { type Action, type ActionKind, buildAction, directoryIn, type McpCall, type Place } from './action.ts';
import { rawFacts, textsOf } from './raw-input.ts';

/** `fs/read_text_file` is `read`, `fs/write_text_file` is `edit`. */
export function pathAction(place: Place, kind: ActionKind, path: string): Action {
  return buildAction(place, () => {
    const access = kind === 'read' || kind === 'search' ? 'read' : 'write';
    return { kind, evidence: 'raw', paths: [actionPath(path, place.cwd, place, access, 'raw')] };
  });
}

/** A line for a shell. */
export function commandAction(place: Place, line: string, cwd: string = place.cwd): Action {
  return buildAction(place, () => ({
    kind: 'execute',
    evidence: 'raw',
    texts: [line],
    ...analyseLine(line, resolvePath(place.cwd, cwd), place, 'raw'),
  }));
}

export type TerminalRequest = {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: readonly { readonly name: string }[] | undefined;
  readonly cwd?: string | null | undefined;
};

/**
 * `terminal/create`. Clients hand a command without `args` to a shell, and some do so with `args` too, so words that a shell would expand
 * are opaque.
 */
export function terminalAction(place: Place, { command, args = [], env = [], cwd }: TerminalRequest): Action {
  return buildAction(place, () => {
    const { cwd: at, opaque } = directoryIn(place, cwd ?? '.');
    const analysis = args.length === 0 ? analyseLine(command, at, place, 'raw') : analyseArgv([command, ...args], at, place, 'raw');
    const isShell = /(^|\/)(ba|z|da)?sh$/.test(command);
    const isPlain = args.length === 0 || isShell || [command, ...args].every((word) => /^[\w@%+=:,./-]+$/.test(word));
    const asLine = isPlain
      ? []
      : analyseLine([command, ...args].join(' '), at, place, 'raw').commands.map((found) => ({ ...found, where: 'within' as const }));
    return {
      kind: 'execute',
      evidence: 'raw',
      texts: [JSON.stringify([command, ...args])],
      commands: [...analysis.commands, ...asLine],
      isUnreadable: analysis.isUnreadable,
      opaque: [
        ...opaque,
        ...analysis.opaque,
        ...(isPlain ? [] : ['words that a shell would read differently']),
        ...(env.every(({ name }) => isTameVariable(name)) ? [] : ['variables of the environment are set']),
      ],
    };
  });
}

/** `tools/call` on a server behind the switchboard. Deny and ask rules also see commands and paths among the arguments. */
export function mcpAction(place: Place, call: McpCall): Action {
  return buildAction(place, () => {
    const raw = rawFacts(call.args);
    const commands = raw.lines.flatMap((line) =>
      analyseLine(line, place.cwd, place, 'raw').commands.map((found) => ({ ...found, where: 'within' as const })),
    );
    return {
      kind: 'mcp',
      claims: commands.length > 0 ? ['execute'] : [],
      evidence: 'raw',
      tool: call.tool,
      mcp: call,
      commands,
      paths: raw.paths.map((path) => actionPath(path, place.cwd, place, 'unknown', 'raw')),
      hosts: raw.urls.flatMap((url) => hostOf(url) ?? []),
      texts: textsOf(raw),
    };
  });
}

/** A request that the protocol does not have: denies see what it is given, and nothing allows it. */
export function extensionAction(place: Place, method: string, params: unknown): Action {
  const { kind: _, mcp: __, ...facts } = mcpAction(place, { server: '', tool: method, args: params });
  return {
    ...facts,
    kind: 'other',
    mcp: undefined,
    claims: ['read', 'edit', ...facts.claims],
    opaque: ['a method that the protocol does not have'],
  };
}

/** Whether something in it looks like a file, a command or an address. */
export function isTelling(params: unknown): boolean {
  const { lines, argvs, paths, urls } = rawFacts(params);
  return lines.length + argvs.length + paths.length + urls.length > 0;
}

/** A program that the client wants started for a session, such as a stdio server in `mcpServers`. */
export function startAction(place: Place, argv: readonly string[], name: string): Action {
  return buildAction(place, () => ({
    kind: 'execute',
    evidence: 'raw',
    tool: `mcp-server:${name}`,
    texts: [JSON.stringify(argv)],
    ...analyseArgv(argv, place.cwd, place, 'raw'),
  }));
}

/** `elicitation/create` with a URL, or a fetch. Takes a URL or a bare host. */
export function hostAction(place: Place, kind: 'fetch' | 'elicit', url: string): Action {
  return buildAction(place, () => {
    const host = hostOf(url.includes('://') ? url : `https://${url}`);
    if (host === undefined) return { kind, evidence: 'none', opaque: ['an address that cannot be read'] };
    return { kind, evidence: 'raw', hosts: [host], texts: [url] };
  });
}

/** An action with nothing but a kind and a name: a mode (`mode`, its id as the tool), a form (`elicit`). */
export function toolAction(place: Place, kind: ActionKind, tool?: string): Action {
  return buildAction(place, () => ({ kind, tool, evidence: 'raw' }));
}
