// Modes that a policy pins or refuses: they are not offered, cannot be set, and no session starts in them.
import { failure, type ProxyError } from '../../errors.ts';
import { toolAction } from '../../policy/actions/surfaces.ts';
import { isModeAllowed, modesOf, shortMode } from '../../policy/rules/settings.ts';
import { detach, type Frame, type Span } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import { doubtOf, readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent, Call } from '../agents/agent.ts';
import type { Session } from '../sessions/session.ts';
import { agentStateOf } from './enforcement-state.ts';
import { type EnforcementDeps, evaluate, record, recordUnread } from './evaluate.ts';
import { violation } from './observed-actions.ts';

// Places where an answer or an update lists modes. Agents have two forms: `modes`, and options of the category `mode`.
/** One such place: which mode is current, which there are, and how another is set. */
export type ModeList = {
  readonly current: string | undefined;
  readonly currentAt: Span | undefined;
  readonly modes: readonly string[];
  /** The option to set; undefined for session/set_mode. */
  readonly configId: string | undefined;
  /** The arrays that list modes, and the key of each entry that names one. */
  readonly lists: readonly { readonly list: Span; readonly key: string }[];
};

/** In the object at `holder`: a result, or an update. */
export function modeListsIn(bytes: Buffer, holder: Span | undefined): readonly ModeList[] {
  if (!holder || bytes[holder.start] !== 0x7b) return [];
  const modes = memberAt(bytes, holder, 'modes');
  const options = memberAt(bytes, holder, 'configOptions');
  return [
    ...(modes ? [listOf(bytes, undefined, memberAt(bytes, modes, 'currentModeId'), entriesIn(bytes, modes, 'availableModes', 'id'))] : []),
    ...(options ? elements(bytes, options.start) : []).flatMap((option) =>
      isModeOption(bytes, option) ? [optionList(bytes, option)] : [],
    ),
  ];
}

export const namesIn = (bytes: Buffer, { list, key }: ModeList['lists'][number]): { readonly entry: Span; readonly name: string }[] =>
  elements(bytes, list.start).map((entry) => ({ entry, name: stringAt(bytes, memberAt(bytes, entry, key)) ?? '' }));

function optionList(bytes: Buffer, option: Span): ModeList {
  const values = memberAt(bytes, option, 'options');
  const groups = values ? elements(bytes, values.start).flatMap((entry) => memberAt(bytes, entry, 'options') ?? []) : [];
  const lists = groups.length > 0 ? groups.map((list) => ({ list, key: 'value' })) : entriesIn(bytes, option, 'options', 'value');
  return listOf(bytes, stringAt(bytes, memberAt(bytes, option, 'id')), memberAt(bytes, option, 'currentValue'), lists);
}

function listOf(bytes: Buffer, configId: string | undefined, currentAt: Span | undefined, lists: ModeList['lists']): ModeList {
  const modes = lists.flatMap((list) => namesIn(bytes, list).map(({ name }) => name));
  return { current: stringAt(bytes, currentAt), currentAt, modes, configId, lists };
}

function entriesIn(bytes: Buffer, holder: Span, field: string, key: string): ModeList['lists'] {
  const list = memberAt(bytes, holder, field);
  return list ? [{ list, key }] : [];
}

function isModeOption(bytes: Buffer, option: Span): boolean {
  const text = (key: string) => stringAt(bytes, member(bytes, option.start, key));
  return text('category') === 'mode' || text('id') === 'mode';
}

const isAllowed = (deps: EnforcementDeps, agent: Agent, mode: string): boolean => isModeAllowed(deps.current().policy, agent.name, mode);

/** Modes of known agents with fewer permission requests, for agents that use them without listing them. */
const KNOWN_MODES = new Set(['acceptEdits', 'auto', 'dontAsk', 'bypassPermissions', 'autoEdit', 'yolo', 'agent-full-access', 'autopilot']);

/** For an option in a permission request: agents also offer modes there, by id. An unknown name is not a mode. */
export function isRefusedMode(deps: EnforcementDeps, agent: Agent, id: string): boolean {
  const isMode =
    KNOWN_MODES.has(shortMode(id)) || agent.enforcement?.modes.has(id) || modesOf(deps.current().policy, agent.name).refuse.includes(id);
  return isMode === true && !isAllowed(deps, agent, id);
}

/** Removes refused modes from a response or update that lists modes, and records the listed ones. */
export function narrow(deps: EnforcementDeps, agent: Agent, frame: Frame, holder: Span | undefined): Frame {
  const { bytes } = frame;
  const found = modeListsIn(bytes, holder);
  const known = agentStateOf(agent);
  for (const { modes, configId } of found) {
    for (const mode of modes) known.modes.add(mode);
    if (configId !== undefined) known.modeOptions.add(configId);
  }
  if (deps.isObserving) return frame;
  const patches = found.flatMap(({ lists }) =>
    lists.flatMap((list): Patch[] => {
      const all = namesIn(bytes, list);
      const kept = all.filter(({ name }) => isAllowed(deps, agent, name));
      if (kept.length === all.length) return [];
      return [{ span: list.list, text: `[${kept.map(({ entry }) => bytes.toString('utf8', entry.start, entry.end)).join(',')}]` }];
    }),
  );
  return patched(frame, patches);
}

/** Why the client may not set it. */
export function refusesChange(deps: EnforcementDeps, method: string, session: Session | undefined, frame: Frame): ProxyError | undefined {
  const params = readBody(frame);
  if (!params.ok) return deps.isObserving ? undefined : failure('AMBIGUOUS', [params.reason]);
  const { modeId, configId, value } = (params.value ?? {}) as Record<string, unknown>;
  const agent = session?.agent ?? deps.host.singleAgent();
  const isMode = method === 'session/set_mode' || configId === 'mode' || agent?.enforcement?.modeOptions.has(String(configId)) === true;
  if (!isMode) return undefined;
  const wanted = method === 'session/set_mode' ? modeId : value;
  if (typeof wanted !== 'string' || !agent)
    return deps.isObserving ? undefined : failure('PARAMS', [method, 'the policy cannot evaluate it: it names no mode of a session']);
  const text = frame.bytes.subarray(frame.start, frame.end);
  const action = evaluate(deps, { agent, session, surface: method }, text, (place) => toolAction(place, 'mode', wanted));
  const isRefused = !isAllowed(deps, agent, wanted);
  const isDenied = isRefused || action.verdict === 'deny';
  // The user requests it, so an `ask` is answered.
  record(deps, action, isDenied && !deps.isObserving ? 'refused' : 'passed', 'policy', isDenied ? 'deny' : action.verdict);
  if (!isDenied || deps.isObserving) return undefined;
  return failure('MODE_REFUSED', [wanted, agent.name, isRefused ? 'the policy refuses it' : action.decision.why], { agent: agent.name });
}

/** Their answers open a new session. */
const OPENING = new Set(['session/new', 'session/fork']);
/** Requests whose answers reopen a session. */
const RETURNING = new Set(['session/load', 'session/resume']);

/**
 * Moves an agent that starts in a refused mode before the client learns of the session. If the agent cannot be moved, the client does not
 * get the session; the agent still has it, so the proxy drops its frames in both directions.
 */
export function settleMode(deps: EnforcementDeps, agent: Agent, call: Call, answer: Frame, then: (answer: Frame) => void): void {
  // Do not repeat our own request if it did not help.
  const isOurs = call.method === 'session/set_config_option' && call.request === undefined;
  const isLookedAt = answer.outcome === 'result' && !deps.isObserving && !isOurs;
  const found = isLookedAt ? modeListsIn(answer.bytes, answer.body) : [];
  const refused = found.filter(({ current }) => current !== undefined && !isAllowed(deps, agent, current));
  const session = call.session ?? call.request?.session;
  const sessionId = stringAt(answer.bytes, answer.sessionId) ?? session?.nativeId;
  const settled = (told: Frame) => {
    const isThere = told.outcome === 'result' && (OPENING.has(call.method) || RETURNING.has(call.method));
    if (isThere && sessionId !== undefined) agent.refused.delete(sessionId);
    then(narrow(deps, agent, told, told.body));
  };
  const { connection } = agent;
  const refuse = (nativeId: string, error: ProxyError) => {
    if (agent.connection !== connection) return; // it exited meanwhile, and may start in another mode
    agent.refused.set(nativeId, error);
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
  if (refused.length === 0) return settled(answer);
  const kept = detach(answer);
  const fail = (mode: string, why: string) => {
    const error = failure('MODE_REFUSED', [mode, agent.name, why], { agent: agent.name });
    const action = evaluate(deps, { agent, session, surface: call.method }, kept.bytes, (place) => toolAction(place, 'mode', mode));
    record(deps, { ...action, decision: { ...action.decision, why: error.message } }, 'refused', 'policy', 'deny');
    if (sessionId !== undefined) refuse(sessionId, error);
    call.onFail(error);
  };
  const moves: Patch[] = [];
  const move = ([list, ...others]: readonly ModeList[]): void => {
    if (!list) return settled(patched(kept, moves));
    const from = list.current as string;
    const to = targetFor(deps, agent, list);
    if (to === undefined || sessionId === undefined) return fail(from, 'it offers no mode that the policy names or that is known to ask');
    const [method, params] =
      list.configId === undefined
        ? (['session/set_mode', { sessionId, modeId: to }] as const)
        : (['session/set_config_option', { sessionId, configId: list.configId, value: to }] as const);
    agent.request(method, JSON.stringify(params), {
      onFail: (error) => fail(from, error.message),
      onAnswer(moved) {
        if (moved.outcome !== 'result') return fail(from, `it did not change to "${to}"`);
        deps.host.report(`agent "${agent.name}" began in mode "${from}", which the policy refuses; it was set to "${to}"`);
        moves.push({ span: list.currentAt as Span, text: JSON.stringify(to) });
        move(others);
      },
    });
  };
  move(modeListsIn(kept.bytes, kept.body).filter(({ current }) => current !== undefined && !isAllowed(deps, agent, current)));
}

/** Modes in which every known agent asks permission. The proxy never sets a mode that might be less strict than the refused one. */
const ASKING_MODES = ['default', 'plan', 'ask', 'read-only', 'manual'];

function targetFor(deps: EnforcementDeps, agent: Agent, { modes }: ModeList): string | undefined {
  const { pin = [] } = modesOf(deps.current().policy, agent.name);
  const allowed = modes.filter((mode) => isAllowed(deps, agent, mode));
  const named = (name: string) => allowed.find((mode) => mode === name || shortMode(mode) === name);
  return [...pin, ...ASKING_MODES].map(named).find((mode) => mode !== undefined);
}

/** The agent has changed its mode by itself. */
export function modeUpdate(deps: EnforcementDeps, session: Session, frame: Frame): void {
  const { bytes } = frame;
  const update = memberAt(bytes, frame.body, 'update');
  const told = [
    memberAt(bytes, update, 'currentModeId') ?? memberAt(bytes, update, 'modeId'),
    ...modeListsIn(bytes, update).map((list) => list.currentAt),
  ];
  const { agent } = session;
  for (const mode of told.map((span) => stringAt(bytes, span))) {
    if (mode === undefined || isAllowed(deps, agent, mode)) continue;
    const text = bytes.subarray(frame.start, frame.end);
    const action = evaluate(deps, { agent, session, surface: 'current_mode_update' }, text, (place) => toolAction(place, 'mode', mode));
    violation(deps, { ...action, verdict: 'deny' }, session, `went to mode "${mode}", which the policy refuses`);
  }
}
