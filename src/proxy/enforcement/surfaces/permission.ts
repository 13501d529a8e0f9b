// session/request_permission: the client sees only requests that the policy leaves open, as the agent wrote them.
import { META_KEY } from '../../../acp/shapes.ts';
import type { AnsweredBy } from '../../../audit/audit-line.ts';
import { fields } from '../../../json-object.ts';
import type { Place } from '../../../policy/actions/action.ts';
import { grantsIn } from '../../../policy/actions/grant.ts';
import { permissionAction } from '../../../policy/actions/permission.ts';
import {
  isConsent,
  onceInstead,
  optionToAllow,
  optionToDeny,
  type PermissionOption,
  readOptions,
} from '../../../policy/actions/permission-options.ts';
import { shownTitleOf } from '../../../policy/actions/shown-title.ts';
import { mergeToolCall, type ToolCall } from '../../../policy/actions/tool-call.ts';
import { detach, type Frame } from '../../../wire/frame.ts';
import { elements, memberAt, stringAt } from '../../../wire/json-path.ts';
import { readBody } from '../../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../../wire/writer.ts';
import { type AgentRequest, CANCELLED_PERMISSION } from '../../requests/agent-requests.ts';
import type { Session } from '../../sessions/session.ts';
import type { NamedTool } from '../../tools/host-calls.ts';
import { answererOf, chosenOption, denyAfterTimeout, remember, type Shown } from '../ask-user.ts';
import type { Evaluated } from '../enforcement.ts';
import { requestOf, stateOf } from '../enforcement-state.ts';
import {
  detached,
  type EnforcementDeps,
  type Evaluation,
  evaluate,
  type IncomingRequest,
  idOf,
  paramsOf,
  placeFor,
  record,
  surfaceOf,
  textOf,
  write,
} from '../evaluate.ts';
import { type Consent, currentTurn } from '../grants.ts';
import { isRefusedMode } from '../modes/modes.ts';
import { reportRefusal } from '../reports.ts';
import { evaluateTool, isHarmless } from './host-tools.ts';

const selected = ({ optionId }: PermissionOption, _meta?: unknown): string =>
  JSON.stringify({ outcome: { outcome: 'selected', optionId }, ...(_meta !== undefined && { _meta }) });

export function permission(deps: EnforcementDeps, incoming: IncomingRequest): void {
  const { agent, session, frame } = incoming;
  const { toolCall, options: offered } = paramsOf(incoming);
  const { toolCallId } = (toolCall ?? {}) as { toolCallId?: unknown };
  const known = session && typeof toolCallId === 'string' ? stateOf(session).calls.permissionRequested(toolCallId) : undefined;
  const ask = (place: Place) => permissionAction(place, incoming.params, known?.call);
  const named = session && known && hostToolIn(session, toolCallId as string, mergeToolCall(known.call, toolCall));
  // The proxy runs host tools, so it knows what they do, and decides again about each call.
  const evaluateNow = (request: Buffer | string): Evaluation => {
    if (named?.args === undefined) return evaluate(deps, surfaceOf(incoming), request, ask);
    const tool = { ...named, args: named.args };
    const byTool = evaluateTool(deps, surfaceOf(incoming), request, tool);
    return isHarmless(byTool, tool) ? { ...byTool, verdict: 'allow' } : byTool;
  };
  let evaluation = evaluateNow(textOf(incoming));
  const call = known && { id: toolCallId as string, known };
  if (known) known.requested = requestOf(evaluation.action, toolCall, frame.end - frame.start, deps.isObserving);
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    incoming.passOn(frame, { about: evaluatedOf(evaluation) });
    return;
  }
  const options = readOptions(offered).filter(({ optionId }) => !isRefusedMode(deps, agent, optionId));
  const answered = (isAllowed: boolean) => {
    if (known?.requested) known.requested.answer = isAllowed ? 'allow' : 'deny';
  };
  const toAllow = evaluation.verdict === 'allow' ? optionToAllow(options) : undefined;
  if (toAllow && record(deps, evaluation, toAllow.optionId)) {
    answered(true);
    return agent.succeed(idOf(incoming), selected(toAllow));
  }
  if (toAllow) evaluation = evaluateNow(textOf(incoming)); // the policy may deny what cannot be recorded
  if (evaluation.verdict === 'deny') {
    answered(false);
    reportRefusal(deps, evaluation, { shown: shownIn(toolCall), ...(call && { call }) });
    return denied(deps, evaluation, idOf(incoming), options);
  }
  const open = detached(evaluation);
  const waiting = { ...incoming, frame: detach(frame) };
  const turn = session && currentTurn(session);
  // Resolved when the request is shown: a path may lead elsewhere by the time of the answer.
  const shown = shownTitleOf(evaluation.action, mergeToolCall(known?.call, toolCall));
  // If the title contradicts the action, consent covers this request only.
  const given =
    turn && typeof toolCallId === 'string' && !shown?.isContradicted
      ? { grants: grantsIn(placeFor(deps, evaluation), incoming.params), toolCallId, turn }
      : undefined;
  putToUser(deps, open, waiting, options, {
    title: shown?.title,
    evaluateAgain: () => evaluateNow(open.request),
    answered,
    refused: (refusal, by) => reportRefusal(deps, refusal, { by, shown: shownIn(toolCall), ...(call && { call }) }),
    allowed(consent) {
      if (named && !shown?.isContradicted) session.servers.calls.approve(toolCallId as string, consent);
      if (session && given) stateOf(session).grants.give(open, given, consent);
    },
  });
}

function denied(
  deps: EnforcementDeps,
  evaluation: Evaluation,
  idText: string,
  options: readonly PermissionOption[],
  by = evaluation.by,
): void {
  const option = optionToDeny(options);
  record(deps, evaluation, option?.optionId ?? 'cancelled', by, 'deny');
  evaluation.agent.succeed(idText, option ? selected(option) : CANCELLED_PERMISSION);
}

type PermissionCallbacks = {
  /** The title to show instead of the agent's own. */
  readonly title: string | undefined;
  /** Evaluates the action when the answer comes: the policy may have changed, or the target of a path. */
  readonly evaluateAgain: () => Evaluation;
  readonly answered: (isAllowed: boolean) => void;
  /** The policy refuses it after all. */
  readonly refused: (evaluation: Evaluation, by: AnsweredBy) => void;
  /** The user consents, as this audit line says. */
  readonly allowed: (consent: Consent) => void;
};

function putToUser(
  deps: EnforcementDeps,
  evaluation: Evaluation,
  incoming: IncomingRequest,
  options: readonly PermissionOption[],
  { title, evaluateAgain: again, answered, refused, allowed }: PermissionCallbacks,
): void {
  const { agent } = evaluation;
  const idText = idOf(incoming);
  const cancelled = () => {
    answered(false);
    record(deps, evaluation, 'cancelled', 'user', 'ask');
    agent.succeed(idText, CANCELLED_PERMISSION);
  };
  let abandon = () => {};
  const agentRequest: AgentRequest | undefined = incoming.passOn(incoming.frame, {
    patches: [...titlePatches(incoming.frame, title), ...optionPatches(incoming.frame, options), ...metaPatches(incoming.frame)].sort(
      (one, other) => one.span.start - other.span.start,
    ),
    about: evaluatedOf(evaluation),
    onClosed: () => abandon(),
    onCancel: cancelled,
    onAnswer(answer) {
      // The client could not ask the user. Its error passes as it is.
      if (answer.outcome !== 'result') {
        answered(false);
        record(deps, evaluation, 'client-error', 'user', 'ask');
        return false;
      }
      const chosen = chosenOption(answer, options);
      if (chosen) userChose(chosen, metaIn(answer), agentRequest ? answererOf(agentRequest) : 'user');
      else cancelled();
      return true;
    },
  });
  if (!agentRequest) return void record(deps, evaluation, 'refused: too many permission requests are open', 'policy', 'deny');
  abandon = denyAfterTimeout(deps, agentRequest, () => {
    answered(false);
    refused(evaluation, 'timeout');
    denied(deps, evaluation, idText, options, 'timeout');
  });

  function userChose(chosen: PermissionOption, _meta: unknown, by: AnsweredBy): void {
    const isAllowed = chosen.kind.startsWith('allow');
    const isPlain = isConsent(chosen);
    const now = isAllowed ? again() : evaluation;
    if (now.verdict === 'deny') {
      answered(false);
      refused(now, now.by);
      return denied(deps, now, idText, options);
    }
    const instead = onceInstead(options, chosen);
    const written = write(deps, evaluation, { option: instead.optionId, by, verdict: 'ask', answer: chosen.kind });
    const late = isAllowed && !written.isWritten ? again() : undefined;
    if (late?.verdict === 'deny') {
      answered(false);
      refused(late, late.by);
      return denied(deps, late, idText, options);
    }
    answered(isAllowed);
    // What the label says counts, where it says something else than the kind.
    if (isPlain || !isAllowed) remember(deps, evaluation, chosen.kind);
    if (isPlain && written.isWritten) allowed({ seq: written.seq, by });
    agent.succeed(idText, selected(instead, _meta));
  }
}

/** What the user adds to an answer, such as a reason. */
function metaIn(answer: Frame): unknown {
  const body = readBody(answer);
  return body.ok ? fields(body.value)._meta : undefined;
}

/** The host tool that the request is for. */
function hostToolIn(session: Session, toolCallId: string, call: ToolCall): NamedTool | undefined {
  const named = session.usedServers?.attachment?.toolIn(call);
  if (named) session.servers.calls.report(toolCallId, named);
  return named;
}

/** The call as the client would see it. */
function shownIn(toolCall: unknown): Shown | undefined {
  const { title, kind } = fields(toolCall);
  return typeof title === 'string' ? { title, kind: typeof kind === 'string' ? kind : 'other' } : undefined;
}

const evaluatedOf = ({ action, decision }: Evaluation): Evaluated => ({ action, decision, isFromPolicy: false });

/** The question says what the request does. */
function titlePatches({ bytes, body }: Frame, title: string | undefined): Patch[] {
  const call = title === undefined ? undefined : memberAt(bytes, body, 'toolCall');
  if (call === undefined) return [];
  const own = memberAt(bytes, body, 'toolCall', 'title');
  const text = JSON.stringify(title);
  return [own ? { span: own, text } : { span: { start: call.start + 1, end: call.start + 1 }, text: `"title":${text},` }];
}

/** Removes our own `_meta` from an agent's request: the client would take it for the policy's. */
function metaPatches({ bytes, body }: Frame): Patch[] {
  const ours = memberAt(bytes, body, '_meta', META_KEY);
  return ours ? [{ span: ours, text: '{}' }] : [];
}

/** Removes options that lead to a refused mode, or whose label says the opposite of their kind. */
function optionPatches(frame: Frame, options: readonly PermissionOption[]): Patch[] {
  const { bytes } = frame;
  const list = memberAt(bytes, frame.body, 'options');
  if (!list) return [];
  const all = elements(bytes, list.start);
  const known = new Set<string | undefined>(options.map(({ optionId }) => optionId));
  const shown = all.filter((span) => known.has(stringAt(bytes, memberAt(bytes, span, 'optionId'))));
  if (shown.length === all.length) return [];
  return [{ span: list, text: `[${shown.map(({ start, end }) => bytes.toString('utf8', start, end)).join(',')}]` }];
}
