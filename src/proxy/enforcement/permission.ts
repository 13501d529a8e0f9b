// session/request_permission: what the policy settles never reaches the editor; what it leaves open goes there as the agent wrote it.
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
import { type Grants, turnOf } from './grants.ts';
import { isRefusedMode } from './modes.ts';
import type { KnownCalls } from './observed-actions.ts';

const CANCELLED = '{"outcome":{"outcome":"cancelled"}}';
const selected = ({ optionId }: PermissionOption): string => JSON.stringify({ outcome: { outcome: 'selected', optionId } });

export function permission(deps: EnforcementDeps, calls: KnownCalls, grants: Grants, asking: Asking): void {
  const { agent, session, frame } = asking;
  const { toolCall, options: offered } = paramsOf(asking);
  const { toolCallId } = (toolCall ?? {}) as { toolCallId?: unknown };
  const known = session && typeof toolCallId === 'string' ? calls.asked(session, toolCallId) : undefined;
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
  // As things are when the question is shown: what a path leads to by the time of the answer is not what the user saw.
  const given =
    turn && typeof toolCallId === 'string' ? { grants: grantsIn(placeFor(deps, action), asking.params), toolCallId, turn } : undefined;
  askUser(deps, open, waiting, options, {
    again: () => evaluate(deps, surfaceOf(waiting), open.request, ask),
    answered,
    allowed: (seq) => given && grants.give(open, given, seq),
  });
}

function denied(deps: EnforcementDeps, action: PendingAction, idText: string, options: readonly PermissionOption[], by = action.by): void {
  const option = optionToDeny(options);
  record(deps, action, option?.optionId ?? 'cancelled', by, 'deny');
  action.agent.succeed(idText, option ? selected(option) : CANCELLED);
}

type Then = {
  /** The matter as it stands when the answer comes: the policy may have changed, or what a path leads to. */
  readonly again: () => PendingAction;
  readonly answered: (isAllowed: boolean) => void;
  /** The user has said yes, which is in this line. */
  readonly allowed: (seq: number) => void;
};

function askUser(
  deps: EnforcementDeps,
  action: PendingAction,
  asking: Asking,
  options: readonly PermissionOption[],
  { again, answered, allowed }: Then,
): void {
  const { proxy, agent } = action;
  const idText = idOf(asking);
  const cancelled = () => {
    answered(false);
    record(deps, action, 'cancelled', 'user', 'ask');
    agent.succeed(idText, CANCELLED);
  };
  let abandon = () => {};
  const agentRequest = asking.passOn(asking.frame, {
    patches: [...offering(asking.frame, options), ...withoutOurWords(asking.frame)],
    about: aboutOf(action),
    onClosed: () => abandon(),
    onCancel: cancelled,
    onAnswer(answer) {
      // The editor could not ask, and says so in its own words.
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
  if (!agentRequest) return void record(deps, action, 'refused: too many questions are open', 'policy', 'deny');
  abandon = denyInTime(deps, proxy, agentRequest, () => {
    answered(false);
    denied(deps, action, idText, options, 'timeout');
  });

  function userChose(chosen: PermissionOption): void {
    const isYes = chosen.kind.startsWith('allow');
    const now = isYes ? again() : action;
    if (now.verdict === 'deny') {
      answered(false);
      return denied(deps, now, idText, options);
    }
    answered(isYes);
    remember(deps, action, chosen.kind);
    const instead = onceInstead(options, chosen);
    const written = write(deps, action, { option: instead.optionId, by: 'user', verdict: 'ask' });
    if (isYes && written.isWritten) allowed(written.seq);
    agent.succeed(idText, selected(instead));
  }
}

const aboutOf = ({ asked, decision }: PendingAction): Evaluated => ({ asked, decision, isOurs: false });

/** What we say in our own questions an agent may not say in its: an editor would take it for ours. */
function withoutOurWords({ bytes, body }: Frame): Patch[] {
  const ours = memberAt(bytes, body, '_meta', META_KEY);
  return ours ? [{ span: ours, text: '{}' }] : [];
}

/** Options that lead to a refused mode are not even shown. */
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
