// session/request_permission: what the policy settles never reaches the editor; what it leaves open goes there as the agent wrote it.
import { META_KEY } from '../../acp/shapes.ts';
import type { Place } from '../../policy/actions/action.ts';
import { grantsIn } from '../../policy/actions/grant.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { onceInstead, optionToAllow, optionToDeny, type PermissionOption, readOptions } from '../../policy/actions/permission-options.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { elements, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Patch } from '../../wire/writer.ts';
import { type Asking, idOf, paramsOf, surfaceOf, textOf } from './asking.ts';
import type { Judged } from './enforcement.ts';
import { type GuardDeps, judge, kept, type Matter, placeFor, record, write } from './evaluate.ts';
import { type Grants, turnOf } from './grants.ts';
import { isRefusedMode } from './modes.ts';
import type { KnownCalls } from './observed-actions.ts';
import { chosenIn, denyInTime } from './outcome.ts';
import { remember } from './remember.ts';

const CANCELLED = '{"outcome":{"outcome":"cancelled"}}';
const selected = ({ optionId }: PermissionOption): string => JSON.stringify({ outcome: { outcome: 'selected', optionId } });

export function permission(deps: GuardDeps, calls: KnownCalls, grants: Grants, asking: Asking): void {
  const { leg, session, frame } = asking;
  const { toolCall, options: offered } = paramsOf(asking);
  const { toolCallId } = (toolCall ?? {}) as { toolCallId?: unknown };
  const known = session && typeof toolCallId === 'string' ? calls.asked(session, toolCallId) : undefined;
  const ask = (place: Place) => permissionAction(place, asking.params, known?.call);
  const matter = judge(deps, surfaceOf(asking), textOf(asking), ask);
  if (deps.isObserving) {
    record(deps, matter, 'passed');
    asking.passOn(frame, { about: aboutOf(matter) });
    return;
  }
  const options = readOptions(offered).filter(({ optionId }) => !isRefusedMode(deps, leg, optionId));
  const answered = (isAllowed: boolean) => {
    if (known) known.answer = isAllowed ? 'allow' : 'deny';
  };
  const toAllow = matter.verdict === 'allow' ? optionToAllow(options) : undefined;
  if (toAllow && record(deps, matter, toAllow.optionId)) {
    answered(true);
    return leg.succeed(idOf(asking), selected(toAllow));
  }
  if (matter.verdict === 'deny') {
    answered(false);
    return denied(deps, matter, idOf(asking), options);
  }
  const open = kept(matter);
  const waiting = { ...asking, frame: detach(frame) };
  const turn = session && turnOf(session);
  // As things are when the question is shown: what a path leads to by the time of the answer is not what the user saw.
  const given =
    turn && typeof toolCallId === 'string' ? { grants: grantsIn(placeFor(deps, matter), asking.params), toolCallId, turn } : undefined;
  askUser(deps, open, waiting, options, {
    again: () => judge(deps, surfaceOf(waiting), open.request, ask),
    answered,
    allowed: (seq) => given && grants.give(open, given, seq),
  });
}

function denied(deps: GuardDeps, matter: Matter, idText: string, options: readonly PermissionOption[], by = matter.by): void {
  const option = optionToDeny(options);
  record(deps, matter, option?.optionId ?? 'cancelled', by, 'deny');
  matter.leg.succeed(idText, option ? selected(option) : CANCELLED);
}

type Then = {
  /** The matter as it stands when the answer comes: the policy may have changed, or what a path leads to. */
  readonly again: () => Matter;
  readonly answered: (isAllowed: boolean) => void;
  /** The user has said yes, which is in this line. */
  readonly allowed: (seq: number) => void;
};

function askUser(
  deps: GuardDeps,
  matter: Matter,
  asking: Asking,
  options: readonly PermissionOption[],
  { again, answered, allowed }: Then,
): void {
  const { hub, leg } = matter;
  const idText = idOf(asking);
  const cancelled = () => {
    answered(false);
    record(deps, matter, 'cancelled', 'user', 'ask');
    leg.succeed(idText, CANCELLED);
  };
  let callOff = () => {};
  const question = asking.passOn(asking.frame, {
    patches: [...offering(asking.frame, options), ...withoutOurWords(asking.frame)],
    about: aboutOf(matter),
    onSettled: () => callOff(),
    onCancel: cancelled,
    onAnswer(answer) {
      // The editor could not ask, and says so in its own words.
      if (answer.outcome !== 'result') {
        answered(false);
        record(deps, matter, 'an error of the editor', 'user', 'ask');
        return false;
      }
      const chosen = chosenIn(answer, options);
      if (chosen) userChose(chosen);
      else cancelled();
      return true;
    },
  });
  if (!question) return void record(deps, matter, 'refused: too many questions are open', 'policy', 'deny');
  callOff = denyInTime(deps, hub, question, () => {
    answered(false);
    denied(deps, matter, idText, options, 'timeout');
  });

  function userChose(chosen: PermissionOption): void {
    const isYes = chosen.kind.startsWith('allow');
    const now = isYes ? again() : matter;
    if (now.verdict === 'deny') {
      answered(false);
      return denied(deps, now, idText, options);
    }
    answered(isYes);
    remember(deps, matter, chosen.kind);
    const instead = onceInstead(options, chosen);
    const written = write(deps, matter, { option: instead.optionId, by: 'user', verdict: 'ask' });
    if (isYes && written.isWritten) allowed(written.seq);
    leg.succeed(idText, selected(instead));
  }
}

const aboutOf = ({ asked, decision }: Matter): Judged => ({ asked, decision, isOurs: false });

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
