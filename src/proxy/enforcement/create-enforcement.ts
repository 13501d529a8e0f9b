// The guard: every surface a policy has a say in, each in a file of its own.
import { failure } from '../../errors.ts';
import { isExposed, limitsOf } from '../../policy/rules/settings.ts';
import { memberAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Session } from '../sessions/session.ts';
import { skipLine } from '../skip-line.ts';
import { duplicateKeyUpdates } from './duplicate-keys.ts';
import { elicitation } from './elicitation.ts';
import type { Enforcement } from './enforcement.ts';
import type { Asking } from './evaluate.ts';
import { type EnforcementDeps, recordRefusedToken, recordUnread } from './evaluate.ts';
import { isJudged } from './file-actions.ts';
import { cancelRequest, fileOrTerminal, type WaitingRequests } from './files-and-terminals.ts';
import { createGrants } from './grants.ts';
import { type McpConnections, mcpCall, mcpConnect, refusesServers } from './mcp-servers.ts';
import { modeUpdate, narrow, refusesChange, settleMode } from './modes.ts';
import { createKnownCalls, toolCall } from './observed-actions.ts';
import { permission } from './permission.ts';
import { bridgedCall, byUser, hostToolCall, mayRead } from './tool-calls.ts';

export type EnforcementOptions = Omit<EnforcementDeps, 'rootOf' | 'modes'>;

export function createEnforcement(options: EnforcementOptions): Enforcement {
  const roots = new WeakMap<Session, { readonly cwd: string; readonly root: string }>();
  const deps: EnforcementDeps = {
    ...options,
    modes: new WeakMap(),
    rootOf(session) {
      const { cwd } = session;
      const known = roots.get(session);
      if (cwd === undefined || known?.cwd === cwd) return known?.root;
      try {
        const root = options.canonical(cwd);
        roots.set(session, { cwd, root });
        return root;
      } catch {
        return undefined;
      }
    },
  };
  const calls = createKnownCalls();
  const grants = createGrants();
  const waiting: WaitingRequests = new WeakMap();
  const connections: McpConnections = new WeakMap();

  /** Nearly no chunk has one, and a chunk holds many frames. */
  let lastChunk: Buffer | undefined;
  let hasReturns = false;

  /** What sees to requests of a method; undefined for those that no policy speaks of. */
  function surfaceFor(method: string): ((asking: Asking) => void) | undefined {
    switch (method) {
      case 'session/request_permission':
        return (asking) => permission(deps, calls, grants, asking);
      case 'elicitation/create':
        return (asking) => elicitation(deps, asking);
      case 'mcp/message':
        return (asking) => mcpCall(deps, connections, asking);
      case 'mcp/connect':
        return (asking) => mcpConnect(connections, asking);
      default:
        return isJudged(method) ? (asking) => fileOrTerminal(deps, waiting, grants, asking) : undefined;
    }
  }

  return {
    agentRequest(proxy, agent, session, frame, passOn) {
      const take = surfaceFor(frame.method as string);
      if (!take) return void passOn(frame);
      const body = readBody(frame);
      if (body.ok) return take({ proxy, agent, session, frame, params: body.value, passOn });
      recordUnread(
        deps,
        { proxy, agent, session, surface: frame.method as string },
        frame.bytes.subarray(frame.start, frame.end),
        body.reason,
      );
      if (deps.isObserving) passOn(frame);
      else agent.fail(idTextOf(frame), failure('AMBIGUOUS', [body.reason]));
    },
    refusesNotification(proxy, agent, session, frame) {
      // An editor that looks at the method alone would do as it is told.
      if (frame.method === undefined || surfaceFor(frame.method) === undefined) return false;
      const text = frame.bytes.subarray(frame.start, frame.end);
      recordUnread(deps, { proxy, agent, session, surface: frame.method }, text, 'a request was sent as a notification');
      return !deps.isObserving;
    },
    refusesUpdate(proxy, session, kind, frame) {
      const doubt = duplicateKeyUpdates(kind, frame);
      if (doubt === undefined) return false;
      const { agent } = session;
      recordUnread(deps, { proxy, agent, session, surface: 'session/update' }, frame.bytes.subarray(frame.start, frame.end), doubt);
      if (!deps.isObserving) skipLine(proxy, agent, doubt);
      return !deps.isObserving;
    },
    refusesReturn({ bytes, start, end }) {
      if (bytes !== lastChunk) {
        lastChunk = bytes;
        hasReturns = bytes.includes(RETURN);
      }
      return hasReturns && !deps.isObserving && hasReturn(bytes, start, end);
    },
    takesBack: (agent, idText) => cancelRequest(waiting, agent, idText),
    toolCall: (proxy, session, frame) => toolCall(deps, calls, grants, proxy, session, frame),
    modeUpdate: (proxy, session, frame) => modeUpdate(deps, proxy, session, frame),
    answer: (proxy, agent, call, answer, then) => settleMode(deps, proxy, agent, call, answer, then),
    narrowed: (session, frame) => narrow(deps, session.agent, frame, memberAt(frame.bytes, frame.body, 'update')),
    refusesChange: (proxy, method, session, frame) => refusesChange(deps, proxy, method, session, frame),
    refusesServers: (proxy, agent, paramsText) => refusesServers(deps, proxy, agent, paramsText),
    exposes: (server, tool) => isExposed(deps.current().policy, server, tool),
    mayRead: (proxy, session, file) => mayRead(deps, proxy, session, file),
    byUser: (proxy, session, act, file) => byUser(deps, proxy, session, act, file),
    hostToolCall: (proxy, session, request, signal) => hostToolCall(deps, proxy, session, request, signal),
    bridgedCall: (proxy, session, call, signal) => bridgedCall(deps, proxy, session, call, signal),
    tokenRefused: (why) => recordRefusedToken(deps, why),
    ended: (session) => deps.remembered.endSession(session.publicId),
    maxPendingPermissions() {
      return deps.isObserving ? undefined : limitsOf(deps.current().policy).maxPendingPermissions;
    },
  };
}

const RETURN = 0x0d;

/** A carriage return other than at the end of the line. JSON takes it for a space, and some readers of lines for the end of one. */
function hasReturn(bytes: Buffer, start: number, end: number): boolean {
  const at = bytes.indexOf(RETURN, start);
  return at !== -1 && at < end - 1;
}
