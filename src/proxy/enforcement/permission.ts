// session/request_permission: the client sees only requests that the policy leaves open, as the agent wrote them.
import { META_KEY } from '../../acp/shapes.ts';
import type { Place } from '../../policy/actions/action.ts';
import { grantsIn } from '../../policy/actions/grant.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { onceInstead, optionToAllow, optionToDeny, type PermissionOption, readOptions } from '../../policy/actions/permission-options.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { elements, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Patch } from '../../wire/writer.ts';
import { chosenIn, denyInTime, remember } from './ask-user.ts';
import type { Evaluated } from './enforcement.ts';
import { stateOf } from './enforcement-state.ts';
import {
  type Asking,
  type EnforcementDeps,
  evaluate,
  idOf,
  kept,
  type PendingAction,
  paramsOf,
  placeFor,
  record,
  surfaceOf,
  textOf,
  write,
} from './evaluate.ts';
import { turnOf } from './grants.ts';
import { isRefusedMode } from './modes.ts';

const CANCELLED = '{"outcome":{"outcome":"cancelled"}}';
const selected = ({ optionId }: PermissionOption): string => JSON.stringify({ outcome: { outcome: 'selected', optionId } });

export function permission(deps: EnforcementDeps, asking: Asking): void {
  const { agent, session, frame } = asking;
  const { toolCall, options: offered } = paramsOf(asking);
  const { toolCallId } = (toolCall ?? {}) as { toolCallId?: unknown };
  const known = session && typeof toolCallId === 'string' ? stateOf(session).calls.asked(toolCallId) : undefined;
  const ask = (place: Place) => permissionAction(place, asking.params, known?.call);
  const action = evaluate(deps, surfaceOf(asking), textOf(asking), ask);
  if (deps.isObserving) {
    record(deps, action, 'passed');
    asking.passOn(frame, { about: aboutOf(action) });
    return;
  }
  const options = readOptions(offered).filter(({ optionId }) => !isRefusedMode(deps, agent, optionId));
  const answered = (isAllowed: boolean) => {
    if (known) known.answer = isAllowed ? 'allow' : 'deny';
  };
  const toAllow = action.verdict === 'allow' ? optionToAllow(options) : undefined;
  if (toAllow && record(deps, action, toAllow.optionId)) {
    answered(true);
    return agent.succeed(idOf(asking), selected(toAllow));
  }
  if (action.verdict === 'deny') {
    answered(false);
    return denied(deps, action, idOf(asking), options);
  }
  const open = kept(action);
  const waiting = { ...asking, frame: detach(frame) };
  const turn = session && turnOf(session);
  // Resolved when the request is shown: a path may lead elsewhere by the time of the answer.
  const given =
    turn && typeof toolCallId === 'string' ? { grants: grantsIn(placeFor(deps, action), asking.params), toolCallId, turn } : undefined;
  putToUser(deps, open, waiting, options, {
    again: () => evaluate(deps, surfaceOf(waiting), open.request, ask),
    answered,
    allowed: (seq) => session && given && stateOf(session).grants.give(open, given, seq),
  });
}

function denied(deps: EnforcementDeps, action: PendingAction, idText: string, options: readonly PermissionOption[], by = action.by): void {
  const option = optionToDeny(options);
  record(deps, action, option?.optionId ?? 'cancelled', by, 'deny');
  action.agent.succeed(idText, option ? selected(option) : CANCELLED);
}

type Then = {
  /** Evaluates the action when the answer comes: the policy may have changed, or the target of a path. */
  readonly again: () => PendingAction;
  readonly answered: (isAllowed: boolean) => void;
  /** The user consents, as this audit line says. */
  readonly allowed: (seq: number) => void;
};

function putToUser(
  deps: EnforcementDeps,
  action: PendingAction,
  asking: Asking,
  options: readonly PermissionOption[],
  { again, answered, allowed }: Then,
): void {
  const { agent } = action;
  const idText = idOf(asking);
  const cancelled = () => {
    answered(false);
    record(deps, action, 'cancelled', 'user', 'ask');
    agent.succeed(idText, CANCELLED);
  };
  let abandon = () => {};
  const agentRequest = asking.passOn(asking.frame, {
    patches: [...offering(asking.frame, options), ...withoutOurMeta(asking.frame)],
    about: aboutOf(action),
    onClosed: () => abandon(),
    onCancel: cancelled,
    onAnswer(answer) {
      // The client could not ask the user. Its error passes as it is.
      if (answer.outcome !== 'result') {
        answered(false);
        record(deps, action, 'an error of the editor', 'user', 'ask');
        return false;
      }
      const chosen = chosenIn(answer, options);
      if (chosen) userChose(chosen);
      else cancelled();
      return true;
    },
  });
  if (!agentRequest) return void record(deps, action, 'refused: too many permission requests are open', 'policy', 'deny');
  abandon = denyInTime(deps, agentRequest, () => {
    answered(false);
    denied(deps, action, idText, options, 'timeout');
  });

  function userChose(chosen: PermissionOption): void {
    const isAllowed = chosen.kind.startsWith('allow');
    const now = isAllowed ? again() : action;
    if (now.verdict === 'deny') {
      answered(false);
      return denied(deps, now, idText, options);
    }
    answered(isAllowed);
    remember(deps, action, chosen.kind);
    const instead = onceInstead(options, chosen);
    const written = write(deps, action, { option: instead.optionId, by: 'user', verdict: 'ask', answer: chosen.kind });
    if (isAllowed && written.isWritten) allowed(written.seq);
    agent.succeed(idText, selected(instead));
  }
}

const aboutOf = ({ asked, decision }: PendingAction): Evaluated => ({ asked, decision, isOurs: false });

/** Removes our own `_meta` from an agent's request: the client would take it for the policy's. */
function withoutOurMeta({ bytes, body }: Frame): Patch[] {
  const ours = memberAt(bytes, body, '_meta', META_KEY);
  return ours ? [{ span: ours, text: '{}' }] : [];
}

/** Removes options that lead to a refused mode. */
function offering(frame: Frame, options: readonly PermissionOption[]): Patch[] {
  const { bytes } = frame;
  const list = memberAt(bytes, frame.body, 'options');
  if (!list) return [];
  const all = elements(bytes, list.start);
  const known = new Set<string | undefined>(options.map(({ optionId }) => optionId));
  const shown = all.filter((span) => known.has(stringAt(bytes, memberAt(bytes, span, 'optionId'))));
  if (shown.length === all.length) return [];
  return [{ span: list, text: `[${shown.map(({ start, end }) => bytes.toString('utf8', start, end)).join(',')}]` }];
}
