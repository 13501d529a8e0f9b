// Reads a recorded frame as a policy request: a permission request, or a file or terminal request.
import type { Action, Place } from '../../policy/actions/action.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { pathAction, terminalAction } from '../../policy/actions/surfaces.ts';
import { list, mergeToolCall, record, string, type ToolCall } from '../../policy/actions/tool-call.ts';

export type FrameRequest = { readonly action: Action; readonly tier: 'enforced' | 'mediated'; readonly method: string };

/** One JSON value, or one per line. Tool calls in earlier lines are known to the request, as in a session. */
export function requestIn(text: string, place: Place): FrameRequest | undefined {
  const calls = new Map<string, ToolCall>();
  let request: FrameRequest | undefined;
  for (const value of values(text)) {
    const line = record(value);
    const frame = line.msg === undefined ? line : record(line.msg); // a line of a recording holds the frame under `msg`
    const params = frame.params === undefined ? frame : record(frame.params);
    const method = string(frame.method) ?? (params.toolCall === undefined ? undefined : 'session/request_permission');
    const update = record(params.update);
    const id = string(update.toolCallId);
    if (id !== undefined) calls.set(id, mergeToolCall(calls.get(id), update));
    else request = asRequest(method, params, place, calls) ?? request;
  }
  return request;
}

/** A frame from an agent that a policy evaluates. */
export function asRequest(
  method: string | undefined,
  params: Readonly<Record<string, unknown>>,
  place: Place,
  calls: ReadonlyMap<string, ToolCall>,
): FrameRequest | undefined {
  const path = string(params.path) ?? '';
  switch (method) {
    case 'session/request_permission': {
      const id = string(record(params.toolCall).toolCallId) ?? '';
      return { method, tier: 'mediated', action: permissionAction(place, params, calls.get(id)) };
    }
    case 'fs/read_text_file':
      return { method, tier: 'enforced', action: pathAction(place, 'read', path) };
    case 'fs/write_text_file':
      return { method, tier: 'enforced', action: pathAction(place, 'edit', path) };
    case 'terminal/create': {
      const env = list(params.env).map((entry) => ({ name: string(record(entry).name) ?? '' }));
      const terminal = { command: string(params.command) ?? '', args: list(params.args).map(String), env, cwd: string(params.cwd) };
      return { method, tier: 'enforced', action: terminalAction(place, terminal) };
    }
    default:
      return undefined;
  }
}

function values(text: string): unknown[] {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): unknown => JSON.parse(line));
  }
}
