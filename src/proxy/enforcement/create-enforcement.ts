// Enforcement of a policy in one proxy. Each surface has its own file.
import { failure } from '../../errors.ts';
import { isExposed, limitsOf } from '../../policy/rules/settings.ts';
import { memberAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import { ambiguousUpdate } from './duplicate-keys.ts';
import type { CreateEnforcement, EnforcementHost } from './enforcement.ts';
import { type EnforcementDeps, type IncomingRequest, recordRefusedToken, recordUnread } from './evaluate.ts';
import { confirmsChange, modeUpdate, refusesChange, removeRefusedModes, warnNeverAsks } from './modes/modes.ts';
import { settleMode } from './modes/settle-mode.ts';
import { toolCall } from './observed-actions.ts';
import { endTurn, reportUnasked } from './reports.ts';
import { elicitation } from './surfaces/elicitation.ts';
import { isEvaluated, isExtensionToEvaluate } from './surfaces/file-actions.ts';
import { fileOrTerminal, takeOverWaiting, withdrawWaiting } from './surfaces/files-and-terminals.ts';
import { bridgedCall, hostToolCall, mayRead } from './surfaces/host-tools.ts';
import { mcpCall, mcpConnect, refusesServers } from './surfaces/mcp-servers.ts';
import { networkConnection } from './surfaces/network.ts';
import { permission } from './surfaces/permission.ts';
import { changeAnswered, evaluateChange } from './surfaces/review-changes.ts';
import { commandByUser, fileActionByUser } from './surfaces/user-actions.ts';

export type EnforcementOptions = Omit<EnforcementDeps, 'host' | 'startWork'>;

type Surface = (deps: EnforcementDeps, incoming: IncomingRequest) => void;

const SURFACES: Readonly<Record<string, Surface>> = {
  'session/request_permission': permission,
  'elicitation/create': elicitation,
  'mcp/message': mcpCall,
  'mcp/connect': (_, incoming) => mcpConnect(incoming),
};

/** Undefined for methods that a policy does not cover. */
function surfaceOf(method: string): Surface | undefined {
  if (Object.hasOwn(SURFACES, method)) return SURFACES[method];
  return isEvaluated(method) ? fileOrTerminal : undefined;
}

export const createEnforcement =
  (options: EnforcementOptions): CreateEnforcement =>
  (host) => {
    const budget = createTurnBudget(host);
    const deps: EnforcementDeps = { ...options, host, startWork: budget.start };
    // A chunk holds many frames, and hardly any chunk holds a carriage return.
    let lastChunk: Buffer | undefined;
    let hasReturns = false;

    return {
      agentRequest(agent, session, frame, passOn) {
        const method = frame.method as string;
        const isExtension = method.startsWith('_');
        const evaluateRequest = surfaceOf(method) ?? (isExtension ? fileOrTerminal : undefined);
        if (!evaluateRequest) return void passOn(frame);
        const body = readBody(frame);
        if (isExtension && body.ok && !isEvaluated(method) && !isExtensionToEvaluate(method, body.value)) return void passOn(frame);
        if (body.ok) return evaluateRequest(deps, { agent, session, frame, params: body.value, passOn });
        recordUnread(deps, { agent, session, surface: method }, frame.bytes.subarray(frame.start, frame.end), body.reason);
        if (deps.isObserving) passOn(frame);
        else agent.fail(idTextOf(frame), failure('AMBIGUOUS', [body.reason]));
      },
      refusesNotification(agent, session, frame) {
        // A client that looks only at the method would act on it.
        if (frame.method === undefined || surfaceOf(frame.method) === undefined) return false;
        const text = frame.bytes.subarray(frame.start, frame.end);
        recordUnread(deps, { agent, session, surface: frame.method }, text, 'a request was sent as a notification');
        return !deps.isObserving;
      },
      refusesUpdate(session, kind, frame) {
        const doubt = ambiguousUpdate(kind, frame);
        if (doubt === undefined) return false;
        const { agent } = session;
        recordUnread(deps, { agent, session, surface: 'session/update' }, frame.bytes.subarray(frame.start, frame.end), doubt);
        if (!deps.isObserving) host.skipLine(agent, doubt);
        return !deps.isObserving;
      },
      refusesCarriageReturn({ bytes, start, end }) {
        if (bytes !== lastChunk) {
          lastChunk = bytes;
          hasReturns = bytes.includes(RETURN);
        }
        return hasReturns && !deps.isObserving && hasReturn(bytes, start, end);
      },
      withdrawWaiting,
      takeOver: takeOverWaiting,
      toolCall(session, frame) {
        warnNeverAsks(deps, session);
        toolCall(deps, session, frame);
      },
      modeUpdate: (session, frame) => modeUpdate(deps, session, frame),
      narrowAnswer: (agent, call, answer, then) => settleMode(deps, agent, call, answer, then),
      narrowUpdate: (session, frame) => removeRefusedModes(deps, session.agent, frame, memberAt(frame.bytes, frame.body, 'update')),
      refusesChange: (method, session, frame) => refusesChange(deps, method, session, frame),
      confirmsChange: (method, session, frame, then) => confirmsChange(deps, method, session, frame, then),
      refusesServers: (agent, paramsText) => refusesServers(deps, agent, paramsText),
      exposes: (server, tool) => isExposed(deps.current().policy, server, tool),
      mustYield: budget.isUsedUp,
      mayRead: (session, file) => mayRead(deps, session, file),
      reviewChange: (session, change, mustAsk) => evaluateChange(deps, session, change, mustAsk),
      changeAnswered: (session, change, isAllowed) => changeAnswered(deps, session, change, isAllowed),
      fileActionByUser: (session, act, file, where) => fileActionByUser(deps, session, act, file, where),
      commandByUser: (session, command) => commandByUser(deps, session, command),
      hostToolCall: (session, request, signal) => hostToolCall(deps, session, request, signal),
      bridgedCall: (session, call, signal) => bridgedCall(deps, session, call, signal),
      networkConnection: (agent, session, connecting, signal) => networkConnection(deps, agent, session, connecting, signal),
      tokenRefused: (why) => recordRefusedToken(deps, why),
      turnEnding(session) {
        if (session.enforcement) endTurn(deps, session);
      },
      ended(session) {
        if (session.enforcement) reportUnasked(deps, session);
        deps.remembered.endSession(session.publicId);
      },
      maxPendingPermissions: () => (deps.isObserving ? undefined : limitsOf(deps.current().policy).maxPendingPermissions),
    };
  };

/** Of one turn of the event loop. Every decision writes its line before the answer, so thousands in a row would hold up every session. */
const TURN_MS = 5;

function createTurnBudget(host: EnforcementHost) {
  let since: number | undefined;
  return {
    /** Work begins. */
    start(): void {
      if (since !== undefined) return;
      since = host.clock.monotonicMs();
      setImmediate(() => {
        since = undefined;
      });
    },
    isUsedUp: (): boolean => since !== undefined && host.clock.monotonicMs() - since > TURN_MS,
  };
}

const RETURN = 0x0d;

/** A carriage return before the end of the line. JSON takes it for white space, some line readers for the end of a line. */
function hasReturn(bytes: Buffer, start: number, end: number): boolean {
  const at = bytes.indexOf(RETURN, start);
  return at !== -1 && at < end - 1;
}
