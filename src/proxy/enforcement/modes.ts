// Modes that a policy pins or refuses: not on offer, not to be set, and not to be started in.
import { failure, type ProxyError } from '../../errors.ts';
import { toolAction } from '../../policy/actions/surfaces.ts';
import { isModeAllowed, modesOf, shortMode } from '../../policy/rules/settings.ts';
import { detach, type Frame, type Span } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import { doubtOf, readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { AgentLeg, Call } from '../agents/agent.ts';
import type { Hub } from '../hub.ts';
import { closeAt } from '../sessions/change-agent.ts';
import type { Session } from '../sessions/session.ts';
import { revokeLoan } from '../tools/host-tools.ts';
import { endQuestions } from '../turns/cancel.ts';
import { type GuardDeps, judge, record, recordUnread } from './evaluate.ts';
import { type ModeList, modeListsIn, namesIn } from './mode-lists.ts';
import { violation } from './unasked.ts';

const isAllowed = (deps: GuardDeps, leg: AgentLeg, mode: string): boolean => isModeAllowed(deps.current().policy, leg.name, mode);

/** Modes of agents in the field in which they ask less, for those that offer them without having listed them. */
const KNOWN_MODES = new Set(['acceptEdits', 'auto', 'dontAsk', 'bypassPermissions', 'autoEdit', 'yolo', 'agent-full-access', 'autopilot']);

/** Of an option in a permission request: agents offer modes there too, by their ids. A name that is no mode is none. */
export function isRefusedMode(deps: GuardDeps, leg: AgentLeg, id: string): boolean {
  const isMode =
    KNOWN_MODES.has(shortMode(id)) || deps.modes.get(leg)?.ids.has(id) || modesOf(deps.current().policy, leg.name).refuse.includes(id);
  return isMode === true && !isAllowed(deps, leg, id);
}

/** Takes what is refused out of an answer or update that lists modes, and remembers what it lists. */
export function narrow(deps: GuardDeps, leg: AgentLeg, frame: Frame, holder: Span | undefined): Frame {
  const { bytes } = frame;
  const found = modeListsIn(bytes, holder);
  const known = deps.modes.get(leg) ?? { ids: new Set<string>(), options: new Set<string>() };
  deps.modes.set(leg, known);
  for (const { modes, configId } of found) {
    for (const mode of modes) known.ids.add(mode);
    if (configId !== undefined) known.options.add(configId);
  }
  if (deps.isObserving) return frame;
  const patches = found.flatMap(({ lists }) =>
    lists.flatMap((list): Patch[] => {
      const all = namesIn(bytes, list);
      const kept = all.filter(({ name }) => isAllowed(deps, leg, name));
      if (kept.length === all.length) return [];
      return [{ span: list.list, text: `[${kept.map(({ entry }) => bytes.toString('utf8', entry.start, entry.end)).join(',')}]` }];
    }),
  );
  return patched(frame, patches);
}

/** Why the editor may not set it. */
export function refusesChange(
  deps: GuardDeps,
  hub: Hub,
  method: string,
  session: Session | undefined,
  frame: Frame,
): ProxyError | undefined {
  const params = readBody(frame);
  if (!params.ok) return deps.isObserving ? undefined : failure('AMBIGUOUS', [params.reason]);
  const { modeId, configId, value } = (params.value ?? {}) as Record<string, unknown>;
  const leg = session?.leg ?? hub.alone;
  const isMode = method === 'session/set_mode' || configId === 'mode' || (leg && deps.modes.get(leg)?.options.has(String(configId)));
  if (!isMode) return undefined;
  const wanted = method === 'session/set_mode' ? modeId : value;
  if (typeof wanted !== 'string' || !leg)
    return deps.isObserving ? undefined : failure('PARAMS', [method, 'a policy is in force, and this names no mode of a session']);
  const text = frame.bytes.subarray(frame.start, frame.end);
  const matter = judge(deps, { hub, leg, session, surface: method }, text, (place) => toolAction(place, 'mode', wanted));
  const isRefused = !isAllowed(deps, leg, wanted);
  const isDenied = isRefused || matter.verdict === 'deny';
  // The user asks for it, so what the policy would ask the user about is settled.
  record(deps, matter, isDenied && !deps.isObserving ? 'refused' : 'passed', 'policy', isDenied ? 'deny' : matter.verdict);
  if (!isDenied || deps.isObserving) return undefined;
  return failure('MODE_REFUSED', [wanted, leg.name, isRefused ? 'the policy refuses it' : matter.decision.why], { agent: leg.name });
}

/** Their answers make a session that nobody has heard of. */
const OPENING = new Set(['session/new', 'session/fork']);
/** And these bring one back. */
const RETURNING = new Set(['session/load', 'session/resume']);

/**
 * An agent that begins in a refused mode is moved before anybody hears of the session; one that cannot be moved does not get it: it still has
 * it in its own eyes, so that nothing is passed in there, either way.
 */
export function settleMode(deps: GuardDeps, hub: Hub, leg: AgentLeg, call: Call, answer: Frame, then: (answer: Frame) => void): void {
  // One of our own that has not helped is not tried again.
  const isOurs = call.method === 'session/set_config_option' && call.request === undefined;
  const isLookedAt = answer.outcome === 'result' && !deps.isObserving && !isOurs;
  const found = isLookedAt ? modeListsIn(answer.bytes, answer.body) : [];
  const refused = found.filter(({ current }) => current !== undefined && !isAllowed(deps, leg, current));
  const session = call.session ?? call.request?.session;
  const sessionId = stringAt(answer.bytes, answer.sessionId) ?? session?.nativeId;
  const settled = (told: Frame) => {
    const isThere = told.outcome === 'result' && (OPENING.has(call.method) || RETURNING.has(call.method));
    if (isThere && sessionId !== undefined) leg.refused.delete(sessionId);
    then(narrow(deps, leg, told, told.body));
  };
  const life = leg.lives;
  const refuse = (nativeId: string, error: ProxyError) => {
    if (!leg.isStarted || leg.lives !== life) return; // it died meanwhile, and may come back in another mode
    leg.refused.set(nativeId, error);
    const open = leg.sessions.get(nativeId);
    if (open) {
      endQuestions(hub, open);
      revokeLoan(open); // what it was lent is a way in too; should it come back in another mode, it is lent anew
    }
    if (OPENING.has(call.method)) closeAt(leg, nativeId);
  };
  const doubt = isLookedAt ? doubtOf(answer) : undefined;
  if (doubt !== undefined) {
    // The editor may read other modes in it than we do.
    const error = failure('ANSWER_REFUSED', [`agent "${leg.name}"`, call.method, doubt], { agent: leg.name });
    recordUnread(deps, { hub, leg, session, surface: call.method }, answer.bytes.subarray(answer.start, answer.end), doubt);
    if (sessionId !== undefined && call.method !== 'session/set_config_option') refuse(sessionId, error);
    return call.onFail(error);
  }
  if (refused.length === 0) return settled(answer);
  const kept = detach(answer);
  const fail = (mode: string, why: string) => {
    const error = failure('MODE_REFUSED', [mode, leg.name, why], { agent: leg.name });
    const matter = judge(deps, { hub, leg, session, surface: call.method }, kept.bytes, (place) => toolAction(place, 'mode', mode));
    record(deps, { ...matter, decision: { ...matter.decision, why: error.message } }, 'refused', 'policy', 'deny');
    if (sessionId !== undefined) refuse(sessionId, error);
    call.onFail(error);
  };
  const moves: Patch[] = [];
  const move = ([list, ...others]: readonly ModeList[]): void => {
    if (!list) return settled(patched(kept, moves));
    const from = list.current as string;
    const to = targetFor(deps, leg, list);
    if (to === undefined || sessionId === undefined) return fail(from, 'and it offers none that the policy names or that is known to ask');
    const [method, params] =
      list.configId === undefined
        ? (['session/set_mode', { sessionId, modeId: to }] as const)
        : (['session/set_config_option', { sessionId, configId: list.configId, value: to }] as const);
    leg.request(method, JSON.stringify(params), {
      onFail: (error) => fail(from, error.message),
      onAnswer(moved) {
        if (moved.outcome !== 'result') return fail(from, `and it does not go to "${to}"`);
        hub.notice(`agent "${leg.name}" began in mode "${from}", which the policy refuses; it was set to "${to}"`);
        moves.push({ span: list.currentAt as Span, text: JSON.stringify(to) });
        move(others);
      },
    });
  };
  move(modeListsIn(kept.bytes, kept.body).filter(({ current }) => current !== undefined && !isAllowed(deps, leg, current)));
}

/** Modes in which every agent we know asks. Nobody is moved into a mode that might be looser than the one that is refused. */
const ASKING_MODES = ['default', 'plan', 'ask', 'read-only', 'manual'];

function targetFor(deps: GuardDeps, leg: AgentLeg, { modes }: ModeList): string | undefined {
  const { pin = [] } = modesOf(deps.current().policy, leg.name);
  const allowed = modes.filter((mode) => isAllowed(deps, leg, mode));
  const named = (name: string) => allowed.find((mode) => mode === name || shortMode(mode) === name);
  return [...pin, ...ASKING_MODES].map(named).find((mode) => mode !== undefined);
}

/** The agent has changed its mode by itself. */
export function modeUpdate(deps: GuardDeps, hub: Hub, session: Session, frame: Frame): void {
  const { bytes } = frame;
  const update = memberAt(bytes, frame.body, 'update');
  const told = [
    memberAt(bytes, update, 'currentModeId') ?? memberAt(bytes, update, 'modeId'),
    ...modeListsIn(bytes, update).map((list) => list.currentAt),
  ];
  const { leg } = session;
  for (const mode of told.map((span) => stringAt(bytes, span))) {
    if (mode === undefined || isAllowed(deps, leg, mode)) continue;
    const text = bytes.subarray(frame.start, frame.end);
    const matter = judge(deps, { hub, leg, session, surface: 'current_mode_update' }, text, (place) => toolAction(place, 'mode', mode));
    violation(deps, { ...matter, verdict: 'deny' }, session, `went to mode "${mode}", which the policy refuses`);
  }
}
