// Moves an agent that starts in a mode, or with an option, in which it does not ask, before the client learns of the session.
import { failure, type ProxyError } from '../../../errors.ts';
import { toolAction } from '../../../policy/actions/surfaces.ts';
import { modesOf, shortMode } from '../../../policy/rules/settings.ts';
import { detach, type Frame, type Span } from '../../../wire/frame.ts';
import { stringAt } from '../../../wire/json-path.ts';
import { patched } from '../../../wire/patch.ts';
import { doubtOf } from '../../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../../wire/writer.ts';
import type { Agent, Call } from '../../agents/agent.ts';
import { type EnforcementDeps, evaluate, record, recordUnread } from '../evaluate.ts';
import { type ModeList, modeListsIn } from './mode-lists.ts';
import { isConfirmed, nameOf, statusOf } from './mode-status.ts';
import { removeRefusedModes } from './modes.ts';

/** Their answers open a new session. */
const OPENING = new Set(['session/new', 'session/fork']);
/** Requests whose answers reopen a session. */
const RETURNING = new Set(['session/load', 'session/resume']);

/**
 * If the agent cannot be moved from a refused mode, the client does not get the session; the agent still has it, so the proxy drops its frames in
 * both directions.
 */
export function settleMode(deps: EnforcementDeps, agent: Agent, call: Call, answer: Frame, then: (answer: Frame) => void): void {
  // Do not repeat our own request if it did not help.
  const isOurs = call.method === 'session/set_config_option' && call.request === undefined;
  const isLookedAt = answer.outcome === 'result' && !deps.isObserving && !isOurs;
  const session = call.session ?? call.request?.session;
  const sessionId = stringAt(answer.bytes, answer.sessionId) ?? session?.nativeId;
  const currentStatus = (list: ModeList) => {
    const choice = list.choices.find(({ value }) => value === list.current) ?? {
      ...{ value: list.current ?? '', name: undefined, description: undefined },
    };
    return isConfirmed(session, nameOf(list, choice.value)) ? 'allowed' : statusOf(deps, agent, list, choice);
  };
  const wrongIn = (frame: Frame) =>
    modeListsIn(frame.bytes, frame.body).filter((list) => list.current !== undefined && currentStatus(list) !== 'allowed');
  const settled = (last: Frame) => {
    const isThere = last.outcome === 'result' && (OPENING.has(call.method) || RETURNING.has(call.method));
    if (isThere && sessionId !== undefined) agent.sessions.admit(sessionId);
    then(removeRefusedModes(deps, agent, last, last.body));
  };
  const { connection } = agent;
  const refuse = (nativeId: string, error: ProxyError) => {
    if (agent.connection !== connection) return; // it exited meanwhile, and may start in another mode
    agent.sessions.refuse(nativeId, error);
    const open = agent.sessions.get(nativeId);
    if (open) deps.host.cutOff(open);
    if (OPENING.has(call.method)) deps.host.closeAt(agent, nativeId);
  };
  const doubt = isLookedAt ? doubtOf(answer) : undefined;
  if (doubt !== undefined) {
    // The client may read other modes in it than the policy.
    const error = failure('ANSWER_REFUSED', [`agent "${agent.name}"`, call.method, doubt], { agent: agent.name });
    recordUnread(deps, { agent, session, surface: call.method }, answer.bytes.subarray(answer.start, answer.end), doubt);
    if (sessionId !== undefined && call.method !== 'session/set_config_option') refuse(sessionId, error);
    return call.onFail(error);
  }
  if (!isLookedAt || wrongIn(answer).length === 0) return settled(answer);
  const kept = detach(answer);
  const actionOf = (name: string) =>
    evaluate(deps, { agent, session, surface: call.method }, kept.bytes, (place) => toolAction(place, 'mode', name));
  const fail = (name: string, why: string) => {
    const error = failure('MODE_REFUSED', [name, agent.name, why], { agent: agent.name });
    const evaluation = actionOf(name);
    record(deps, { ...evaluation, decision: { ...evaluation.decision, why: error.message } }, 'refused', 'policy', 'deny');
    if (sessionId !== undefined) refuse(sessionId, error);
    call.onFail(error);
  };
  const moves: Patch[] = [];
  const move = ([list, ...others]: readonly ModeList[]): void => {
    if (!list) return settled(patched(kept, moves));
    const from = nameOf(list, list.current as string);
    const stay = (why: string) => {
      if (currentStatus(list) === 'refused') return fail(from, why);
      deps.host.report(`agent "${agent.name}" is in mode "${from}", in which it may act without asking: ${why}`);
      move(others);
    };
    const to = targetFor(deps, agent, list);
    if (to === undefined || sessionId === undefined) return stay('it offers no mode that the policy names or that is known to ask');
    const [method, params, text] = request(list, sessionId, to);
    agent.request(method, JSON.stringify(params), {
      onFail: (error) => stay(error.message),
      onAnswer(moved) {
        if (moved.outcome !== 'result') return stay(`it did not change to "${to}"`);
        const why = currentStatus(list) === 'refused' ? 'which the policy refuses' : 'in which it may act without asking';
        deps.host.report(`agent "${agent.name}" began in mode "${from}", ${why}; it was set to "${to}"`);
        const evaluation = actionOf(from);
        record(deps, { ...evaluation, decision: { ...evaluation.decision, why: `${why}; set to "${to}"` } }, 'moved', 'policy', 'deny');
        moves.push({ span: list.currentAt as Span, text });
        move(others);
      },
    });
  };
  move(wrongIn(kept));
}

/** How the list's choice is set, and its text in the answer. */
function request({ configId, isSwitch }: ModeList, sessionId: string, to: string): readonly [string, object, string] {
  if (configId === undefined) return ['session/set_mode', { sessionId, modeId: to }, JSON.stringify(to)];
  if (isSwitch) return ['session/set_config_option', { sessionId, configId, type: 'boolean', value: to === 'true' }, to];
  return ['session/set_config_option', { sessionId, configId, value: to }, JSON.stringify(to)];
}

/** Modes in which every known agent asks permission. The proxy never sets a mode that might be less strict than the refused one. */
const ASKING_MODES = ['default', 'plan', 'ask', 'read-only', 'manual'];
const OFF = /^(?:off|false|no|never|ask|default|manual)$/i;

function targetFor(deps: EnforcementDeps, agent: Agent, list: ModeList): string | undefined {
  const allowed = list.choices.filter((choice) => statusOf(deps, agent, list, choice) === 'allowed').map(({ value }) => value);
  if (!list.isMode) return allowed.find((value) => OFF.test(value)) ?? (allowed.length === 1 ? allowed[0] : undefined);
  const { pin = [] } = modesOf(deps.current().policy, agent.name);
  const named = (name: string) => allowed.find((mode) => mode === name || shortMode(mode) === name);
  return [...pin, ...(deps.askingOf?.(agent)?.modes ?? []), ...ASKING_MODES].map(named).find((mode) => mode !== undefined);
}
