// Reads the policy requests of a recording, each with its session and the tool calls known by then.
import type { Action, Place } from '../../policy/actions/action.ts';
import { familyOf } from '../../policy/actions/agent-tools.ts';
import { mcpAction, startAction } from '../../policy/actions/surfaces.ts';
import { list, mergeToolCall, record, string, type ToolCall } from '../../policy/actions/tool-call.ts';
import { asRequest } from './read-frame.ts';

export type RecordedRequest = {
  /** The line of the recording. */
  readonly line: number;
  readonly method: string;
  readonly tier: 'enforced' | 'mediated';
  readonly action: Action;
};

export type RecordingPlace = Omit<Place, 'agent' | 'cwd' | 'session' | 'family'> & {
  /** Default: the name the agent reports, then `fallbackAgent`. */
  readonly agent: string | undefined;
  readonly fallbackAgent: string;
  /** The directory of a session that does not name one. */
  readonly cwd: string;
};

type Fields = Readonly<Record<string, unknown>>;

/** A line that is not JSON. */
export class BrokenLine extends Error {
  readonly line: number;
  constructor(line: number) {
    super();
    this.line = line;
  }
}

/** One frame per line, plain or under `msg` as in a recording. Throws a `BrokenLine`. */
export function requestsIn(text: string, place: RecordingPlace): RecordedRequest[] {
  const reportedNames = new Map<string, string>(); // the name each agent reports, by run
  const opening = new Map<string, string>(); // the directory of a session without an id yet, by run and request
  const cwds = new Map<string, string>();
  const calls = new Map<string, Map<string, ToolCall>>();
  const servers = new Map<string, string>(); // the names of MCP servers over ACP
  const requests: RecordedRequest[] = [];

  const placeOf = (run: string, session: string | undefined): Place => {
    const name = reportedNames.get(run);
    const agent = place.agent ?? familyOf(name) ?? name ?? place.fallbackAgent;
    return { ...place, agent, family: familyOf(agent, name), session, cwd: (session !== undefined && cwds.get(session)) || place.cwd };
  };

  for (const { line, entry, frame } of framesIn(text)) {
    const run = String(entry.proc ?? '');
    const request = `${run}:${JSON.stringify(frame.id)}`;
    const params = record(frame.params);
    const result = record(frame.result);
    const method = string(frame.method);
    const session = string(params.sessionId);
    const add = (found: Omit<RecordedRequest, 'line'>) => requests.push({ line, ...found });

    const info = string(record(result.agentInfo).name);
    if (info !== undefined) reportedNames.set(run, info);
    const opened = string(result.sessionId);
    const cwd = method === undefined ? opening.get(request) : string(params.cwd);
    if (method === undefined && opened !== undefined && cwd !== undefined) cwds.set(opened, cwd);
    if (method !== undefined && /^session\/(new|load|resume|fork)$/.test(method) && cwd !== undefined) {
      opening.set(request, cwd);
      if (session !== undefined && method !== 'session/fork') cwds.set(session, cwd);
      for (const server of list(params.mcpServers).map(record)) {
        const serverId = string(server.serverId) ?? string(server.id);
        if (serverId !== undefined) servers.set(serverId, string(server.name) ?? serverId);
      }
      for (const argv of commandsOf(params)) {
        const at = { ...placeOf(run, session), cwd };
        add({ method, tier: 'enforced', action: startAction(at, argv.words, argv.name) });
      }
    }

    const known = calls.get(session ?? '') ?? new Map<string, ToolCall>();
    calls.set(session ?? '', known);
    const update = record(params.update);
    const id = string(update.toolCallId);
    if (id !== undefined) known.set(id, mergeToolCall(known.get(id), update));
    else {
      const found = asRequest(method, params, placeOf(run, session), known) ?? mcpRequest(method, params, placeOf(run, session), servers);
      if (found !== undefined) add(found);
    }
  }
  return requests;
}

function* framesIn(text: string): Generator<{ readonly line: number; readonly entry: Fields; readonly frame: Fields }> {
  const lines = text.split('\n');
  for (const [index, words] of lines.entries()) {
    if (words.trim() === '') continue;
    try {
      const entry = record(JSON.parse(words));
      const inner = entry.msg ?? entry.frame;
      yield { line: index + 1, entry, frame: inner === undefined ? entry : record(typeof inner === 'string' ? JSON.parse(inner) : inner) };
    } catch {
      // The recorder may have been killed while it wrote the last line.
      if (index < lines.length - 1 || index === 0) throw new BrokenLine(index + 1);
    }
  }
}

/** `tools/call`, plain or in `mcp/message` over ACP. */
function mcpRequest(
  method: string | undefined,
  params: Fields,
  place: Place,
  servers: ReadonlyMap<string, string>,
): Omit<RecordedRequest, 'line'> | undefined {
  const isCarried = method === 'mcp/message';
  const call = isCarried ? record(params.params) : params;
  const tool = string(call.name);
  if ((isCarried ? params.method : method) !== 'tools/call' || tool === undefined) return undefined;
  const id = string(params.serverId) ?? string(params.connectionId) ?? '';
  const server = servers.get(id) ?? (id === '' ? 'unknown' : id);
  return { method: 'tools/call', tier: 'enforced', action: mcpAction(place, { server, tool, args: call.arguments ?? {} }) };
}

function commandsOf(params: Fields): { readonly name: string; readonly words: readonly string[] }[] {
  return list(params.mcpServers).flatMap((value) => {
    const server = record(value);
    const command = string(server.command);
    return command === undefined ? [] : [{ name: string(server.name) ?? '', words: [command, ...list(server.args).map(String)] }];
  });
}
