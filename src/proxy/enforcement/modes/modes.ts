// Modes and options in which an agent does not ask: refused ones are not offered and cannot be set, and the user is asked about suspect ones.
import { randomUUID } from 'node:crypto';
import { failure, type ProxyError } from '../../../errors.ts';
import { toolAction } from '../../../policy/actions/surfaces.ts';
import { modesOf, shortMode } from '../../../policy/rules/settings.ts';
import { detach, type Frame, type Span } from '../../../wire/frame.ts';
import { elements, memberAt, stringAt } from '../../../wire/json-path.ts';
import { patched } from '../../../wire/patch.ts';
import { readBody } from '../../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../../wire/writer.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Session } from '../../sessions/session.ts';
import { requestPermission } from '../ask-user.ts';
import { agentStateOf, stateOf } from '../enforcement-state.ts';
import { type EnforcementDeps, type Evaluation, evaluate, OBSERVED, record, write } from '../evaluate.ts';
import { violation } from '../observed-actions.ts';
import { type ModeList, modeListsIn } from './mode-lists.ts';
import { isAboutAsking, isConfirmed, knownChoice, type ModeStatus, nameOf, remember, statusOf } from './mode-status.ts';

/** Modes of known agents with fewer permission requests, for agents that use them without listing them. */
const KNOWN_MODES = new Set(['acceptEdits', 'auto', 'dontAsk', 'bypassPermissions', 'autoEdit', 'yolo', 'agent-full-access', 'autopilot']);

/** For an option in a permission request: agents also offer modes there, by id. An unknown name is not a mode. */
export function isRefusedMode(deps: EnforcementDeps, agent: Agent, id: string): boolean {
  const isMode =
    KNOWN_MODES.has(shortMode(id)) || agent.enforcement?.modes.has(id) || modesOf(deps.current().policy, agent.name).refuse.includes(id);
  if (isMode !== true) return false;
  const { option, choice } = knownChoice(agent, undefined, id);
  return statusOf(deps, agent, option, choice) === 'refused';
}

/** Removes refused modes and values from a response or update that lists them, and keeps what the agent says about the others. */
export function removeRefusedModes(deps: EnforcementDeps, agent: Agent, frame: Frame, holder: Span | undefined): Frame {
  const { bytes } = frame;
  const found = modeListsIn(bytes, holder);
  for (const list of found) remember(agent, list);
  if (deps.isObserving) return frame;
  const isRefused = (list: ModeList, choice: ModeList['choices'][number]) => statusOf(deps, agent, list, choice) === 'refused';
  const patchesOf = (list: ModeList): Patch[] =>
    list.lists.flatMap((span) => {
      const within = list.choices.filter(({ entry }) => entry && entry.start >= span.start && entry.end <= span.end);
      const kept = within.filter((choice) => !isRefused(list, choice));
      if (kept.length === within.length) return [];
      return [{ span, text: `[${kept.map(({ entry }) => bytes.toString('utf8', entry?.start, entry?.end)).join(',')}]` }];
    });
  // A switch that may only be off is not offered at all.
  const dropped = found.filter((list) => list.isSwitch && list.option && list.choices.some((choice) => isRefused(list, choice)));
  const patches = found.flatMap((list) => (dropped.includes(list) ? [] : patchesOf(list)));
  const options = dropped.length > 0 ? memberAt(bytes, holder, 'configOptions') : undefined;
  if (!options) return patched(frame, patches);
  const isInside = ({ span }: Patch, { start, end }: Span) => span.start >= start && span.end <= end;
  const texts = elements(bytes, options.start)
    .filter(({ start }) => !dropped.some(({ option }) => option?.start === start))
    .map((option) =>
      textWith(
        bytes,
        option,
        patches.filter((patch) => isInside(patch, option)),
      ),
    );
  return patched(frame, [...patches.filter((patch) => !isInside(patch, options)), { span: options, text: `[${texts.join(',')}]` }]);
}

function textWith(bytes: Buffer, { start, end }: Span, patches: readonly Patch[]): string {
  let at = start;
  let text = '';
  for (const { span, text: replacement } of [...patches].sort((a, b) => a.span.start - b.span.start)) {
    text += bytes.toString('utf8', at, span.start) + replacement;
    at = span.end;
  }
  return text + bytes.toString('utf8', at, end);
}

type Wanted = { readonly agent: Agent; readonly name: string; readonly status: ModeStatus; readonly evaluation: Evaluation };

/** What the client wants to set; undefined if that does not change whether the agent asks. */
function wantedBy(deps: EnforcementDeps, method: string, session: Session | undefined, frame: Frame): Wanted | ProxyError | undefined {
  const params = readBody(frame);
  if (!params.ok) return failure('AMBIGUOUS', [params.reason]);
  const { modeId, configId, value } = (params.value ?? {}) as Record<string, unknown>;
  const agent = session?.agent ?? deps.host.singleAgent();
  const option = method === 'session/set_mode' ? undefined : String(configId);
  const wanted = option === undefined ? modeId : typeof value === 'boolean' ? String(value) : value;
  const isMode = option === undefined || option === 'mode' || agent?.enforcement?.modeOptions.has(option) === true;
  if (typeof wanted !== 'string' || !agent)
    return isMode ? failure('PARAMS', [method, 'the policy cannot evaluate it: it names no mode of a session']) : undefined;
  const known = knownChoice(agent, option, wanted);
  if (!isAboutAsking(deps, agent, known) && statusOf(deps, agent, known.option, known.choice) === 'allowed') return undefined;
  const name = nameOf(known.option, wanted);
  const text = frame.bytes.subarray(frame.start, frame.end);
  const evaluation = evaluate(deps, { agent, session, surface: method }, text, (place) => toolAction(place, 'mode', name));
  return { agent, name, status: statusOf(deps, agent, known.option, known.choice), evaluation };
}

/** Why the client may not set it. */
export function refusesChange(deps: EnforcementDeps, method: string, session: Session | undefined, frame: Frame): ProxyError | undefined {
  const wanted = wantedBy(deps, method, session, frame);
  if (wanted === undefined) return undefined;
  if (!('status' in wanted)) return deps.isObserving ? undefined : wanted;
  const { agent, name, status, evaluation } = wanted;
  const isUnconfirmed = status === 'suspect' && !isConfirmed(session, name);
  const isDenied = status === 'refused' || isUnconfirmed || evaluation.verdict === 'deny';
  if (isDenied) record(deps, evaluation, deps.isObserving ? 'passed' : 'refused', 'policy', 'deny');
  // The user requests it, so an `ask` is answered. A confirmed one is recorded with the answer.
  else if (status === 'allowed')
    write(deps, evaluation, { option: 'passed', by: 'user', verdict: evaluation.verdict, answer: 'allow_once' });
  if (!isDenied || deps.isObserving) return undefined;
  const why = status === 'refused' ? 'the policy refuses it' : isUnconfirmed ? `${SUSPECT}, and nobody was asked` : evaluation.decision.why;
  return failure('MODE_REFUSED', [name, agent.name, why], { agent: agent.name });
}

const SUSPECT = 'the agent may act without asking in it';

/** Asks the user about a suspect mode or value; false if there is nothing to ask. Calls back when it may be set, or why not. */
export function confirmsChange(
  deps: EnforcementDeps,
  method: string,
  session: Session,
  frame: Frame,
  then: (frame: Frame, error: ProxyError | undefined) => void,
): boolean {
  if (deps.isObserving || !deps.isInteractive) return false;
  const wanted = wantedBy(deps, method, session, frame);
  if (!wanted || !('status' in wanted)) return false;
  const { agent, name, status, evaluation } = wanted;
  if (status !== 'suspect' || evaluation.verdict === 'deny' || isConfirmed(session, name)) return false;
  const kept = detach(frame);
  const why = `${SUSPECT}: what it does not ask about, the policy cannot prevent`;
  const waiting = { ...evaluation, request: Buffer.from(evaluation.request), decision: { ...evaluation.decision, why } };
  const shown = { title: `Set ${agent.title} to "${name}"? ${why}.`, kind: 'switch_mode' };
  const idText = JSON.stringify(`mode-${randomUUID()}`);
  requestPermission(deps, waiting, { session, idText, shown }, (reply) => {
    if (reply === 'allowed') stateOf(session).confirmedModes.add(name);
    then(
      kept,
      reply === 'allowed' ? undefined : failure('MODE_REFUSED', [name, agent.name, 'the user did not confirm it'], { agent: agent.name }),
    );
  });
  return true;
}

/** The agent has changed its mode by itself. */
export function modeUpdate(deps: EnforcementDeps, session: Session, frame: Frame): void {
  const { bytes } = frame;
  const { agent } = session;
  const update = memberAt(bytes, frame.body, 'update');
  const lists = modeListsIn(bytes, update);
  for (const list of lists) remember(agent, list);
  const mode = stringAt(bytes, memberAt(bytes, update, 'currentModeId') ?? memberAt(bytes, update, 'modeId'));
  const listed = [
    ...(mode === undefined ? [] : [knownChoice(agent, undefined, mode)]),
    ...lists.flatMap(({ configId, current }) => (current === undefined ? [] : [knownChoice(agent, configId, current)])),
  ];
  for (const { option, choice } of listed) {
    const status = statusOf(deps, agent, option, choice);
    const name = nameOf(option, choice.value);
    if (status === 'allowed' || isConfirmed(session, name)) continue;
    const text = bytes.subarray(frame.start, frame.end);
    const evaluation = evaluate(deps, { agent, session, surface: 'current_mode_update' }, text, (place) => toolAction(place, 'mode', name));
    if (status === 'refused')
      violation(deps, { ...evaluation, verdict: 'deny' }, session, `went to mode "${name}", which the policy refuses`);
    else if (!stateOf(session).reportedModes.has(name)) {
      stateOf(session).reportedModes.add(name);
      record(deps, { ...evaluation, surface: OBSERVED }, 'notify', 'policy', 'ask');
      deps.host.warn(session, `${agent.title} went to mode "${name}"`, `${SUSPECT}.`);
    }
  }
}

/** Says once that nothing makes the agent ask: the policy only sees what it has done. */
export function warnNeverAsks(deps: EnforcementDeps, session: Session): void {
  const { agent } = session;
  const known = agentStateOf(agent);
  if (known.isWarnedOf) return;
  known.isWarnedOf = true;
  if (deps.isObserving || deps.askingOf?.(agent)?.underPolicy !== 'nothing') return;
  const text = 'The policy sees what it has done, and prevents nothing but host tools. Run it in a sandbox.';
  deps.host.report(`agent "${agent.name}" never asks for permission. ${text}`);
  deps.host.warn(session, `${agent.title} never asks for permission`, text);
}
