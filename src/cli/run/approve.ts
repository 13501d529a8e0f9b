// `--approve` and `--yolo`: the answer to permission requests that nobody is asked about.
import os from 'node:os';
import { fields } from '../../json-object.ts';
import { here } from '../../platform/platform.ts';
import type { Action, ActionPath } from '../../policy/actions/action.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { optionToAllow, type PermissionOption, readOptions } from '../../policy/actions/permission-options.ts';
import { mergeToolCall, type ToolCall } from '../../policy/actions/tool-call.ts';
import { isInside } from '../../policy/paths/path.ts';
import { canonicalPath } from '../../workspace/canonical.ts';

/** `inside`: everything but changes outside the working directory. */
export type Approval = 'all' | 'inside' | 'reads' | 'none';

export type Approver = {
  /** A `session/update`: permission requests may name an earlier tool call and nothing else. */
  noteUpdate(update: unknown): void;
  /** The option to choose; undefined if the request is not approved. */
  choose(params: unknown): PermissionOption | undefined;
};

export function approvalOf({ approve, yolo }: { readonly approve?: Approval; readonly yolo?: true }): Approval {
  return approve ?? (yolo ? 'inside' : 'none');
}

export function createApprover(approval: Approval, agent: string, cwd: string): Approver {
  const calls = new Map<string, ToolCall>();
  const root = canonicalPath(cwd);
  const place = { agent, cwd: root, home: os.homedir(), interactive: false, canonical: canonicalPath, shell: here.shell };
  function isApproved(params: unknown): boolean {
    if (approval === 'all' || approval === 'none') return approval === 'all';
    const known = calls.get(String(fields(fields(params).toolCall).toolCallId));
    const action = permissionAction(place, params, known);
    return approval === 'reads' ? isRead(action) : staysInside(action);
  }
  return {
    noteUpdate(update) {
      const { sessionUpdate, toolCallId } = fields(update);
      if (sessionUpdate !== 'tool_call' && sessionUpdate !== 'tool_call_update') return;
      calls.set(String(toolCallId), mergeToolCall(calls.get(String(toolCallId)), update));
    },
    choose(params) {
      if (approval === 'none') return undefined;
      const toAllow = optionToAllow(readOptions(fields(params).options));
      return toAllow && isApproved(params) ? toAllow : undefined;
    },
  };
}

const CHANGES: ReadonlySet<string> = new Set(['edit', 'delete', 'move', 'execute', 'switch_mode', 'mcp', 'mode', 'delegate', 'other']);

/** Reads or searches files in the working directory, and every part of the request says so. */
function isRead({ kind, claims, commands, hosts, paths, opaque, isUnreadable, evidence, cwd }: Action): boolean {
  const isKnown = !isUnreadable && opaque.length === 0 && (evidence === 'raw' || evidence === 'locations');
  const isOnlyRead = (kind === 'read' || kind === 'search') && !claims.some((claim) => CHANGES.has(claim));
  const isHere = paths.length > 0 && paths.every(({ path, isUnfollowed }) => !isUnfollowed && isInside(cwd, path));
  return isKnown && isOnlyRead && commands.length === 0 && hosts.length === 0 && isHere;
}

/** Where commands send what nobody keeps. */
const SINKS: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty']);

/** Names no file outside the working directory that it may change. What a command does beyond the files it names is not known. */
function staysInside({ paths, commands, isUnreadable, cwd }: Action): boolean {
  if (isUnreadable) return false;
  const isChangeOutside = ({ path, written, access }: ActionPath) => access !== 'read' && !isInside(cwd, path) && !SINKS.has(written);
  return (
    !paths.some(isChangeOutside) &&
    commands.every(
      ({ operands, redirects, cwds }) => ![...operands, ...redirects].some(isChangeOutside) && cwds.every((dir) => isInside(cwd, dir)),
    )
  );
}
