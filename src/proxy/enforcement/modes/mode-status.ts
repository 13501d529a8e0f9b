// Whether a policy lets an agent be in a mode, or have an option set to a value: by the policy's own lists, by what the catalogue knows of the
// agent, and by what the agent says about it.

import { skipsApproval } from '../../../policy/actions/skips-approval.ts';
import { toolAction } from '../../../policy/actions/surfaces.ts';
import { isModeAllowed, modesOf, shortMode } from '../../../policy/rules/settings.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Session } from '../../sessions/session.ts';
import { agentStateOf, stateOf } from '../enforcement-state.ts';
import { type EnforcementDeps, evaluate } from '../evaluate.ts';
import type { Choice, ModeList } from './mode-lists.ts';

/** `suspect`: by its description, or by the catalogue, the agent asks for less there. The user is asked before it is set. */
export type ModeStatus = 'allowed' | 'suspect' | 'refused';

export type Option = Pick<ModeList, 'configId' | 'category' | 'isMode' | 'about'>;
export type KnownChoice = { readonly option: Option; readonly choice: Omit<Choice, 'entry'> };

/** Options that never decide whether the agent asks. */
const UNRELATED = new Set(['model', 'model_config', 'thought_level', '_agent']);
const ON = /^(?:on|true|yes|enabled?|always|all)$/i;

/** The name of a choice in rules and records: a mode by its id, a value of any other option as `option=value`. */
export const nameOf = ({ configId, isMode }: Option, value: string): string => (isMode ? value : `${configId}=${value}`);

export function statusOf(deps: EnforcementDeps, agent: Agent, option: Option, choice: Omit<Choice, 'entry'>): ModeStatus {
  const { value } = choice;
  const name = nameOf(option, value);
  const { policy } = deps.current();
  const isAllowed = option.isMode ? isModeAllowed(policy, agent.name, value) : !modesOf(policy, agent.name).refuse.includes(name);
  if (!isAllowed) return 'refused';
  if (isChosen(deps, agent, name)) return 'allowed';
  const { stops, weakens, modes } = deps.askingOf?.(agent) ?? {};
  const isIn = (names: readonly string[] | undefined) => names?.includes(value) === true || names?.includes(shortMode(value)) === true;
  if (option.isMode ? isIn(stops?.modes) : isIn(stops?.options?.[option.configId ?? ''])) return 'refused';
  if (option.isMode && isIn(weakens?.modes)) return 'suspect';
  if (option.isMode && isIn(modes)) return 'allowed'; // known to ask, whatever its description says
  return saysThatItSkips(option, choice) ? 'suspect' : 'allowed';
}

/** The policy names it: it is pinned, or a rule allows it. */
function isChosen(deps: EnforcementDeps, agent: Agent, name: string): boolean {
  if (modesOf(deps.current().policy, agent.name).pin?.some((pinned) => pinned === name || pinned === shortMode(name))) return true;
  const { decision } = evaluate(deps, { agent, session: undefined, surface: 'session/set_mode' }, name, (place) =>
    toolAction(place, 'mode', name),
  );
  return decision.verdict === 'allow' && decision.rule !== undefined;
}

function saysThatItSkips({ category, about, configId, isMode }: Option, { value, name, description }: Omit<Choice, 'entry'>): boolean {
  if (UNRELATED.has(category ?? configId ?? '')) return false;
  if (skipsApproval(spaced(shortMode(value)), name, description)) return true;
  return !isMode && ON.test(value) && skipsApproval(spaced(configId ?? ''), ...about);
}

/** `bypassPermissions` as words. */
const spaced = (id: string): string => id.replace(/([a-z])([A-Z])/g, '$1 $2');

/** What the agent has said about a mode or a value, as far as it is known. */
export function knownChoice(agent: Agent, configId: string | undefined, value: string): KnownChoice {
  const known = agentStateOf(agent);
  const isMode = configId === undefined || configId === 'mode' || known.modeOptions.has(configId);
  const unknown = {
    option: { configId, category: undefined, isMode, about: [] },
    choice: { value, name: undefined, description: undefined },
  };
  return known.choices.get(keyOf(configId, value)) ?? unknown;
}

/** Keeps what the agent says about its modes and options, for requests that name them by id alone. */
export function remember(agent: Agent, list: ModeList): void {
  const known = agentStateOf(agent);
  if (list.isMode) for (const { value } of list.choices) known.modes.add(value);
  if (list.isMode && list.configId !== undefined) known.modeOptions.add(list.configId);
  const { configId, category, isMode, about } = list;
  for (const { value, name, description } of list.choices)
    known.choices.set(keyOf(configId, value), { option: { configId, category, isMode, about }, choice: { value, name, description } });
}

const keyOf = (configId: string | undefined, value: string): string => `${configId ?? ''}\n${value}`;

/** Whether an option decides whether the agent asks: a mode, or one of its values is not allowed as it is. */
export function isAboutAsking(deps: EnforcementDeps, agent: Agent, { option }: KnownChoice): boolean {
  if (option.isMode) return true;
  const values = [...agentStateOf(agent).choices.values()].filter((one) => one.option.configId === option.configId);
  return values.some((one) => statusOf(deps, agent, one.option, one.choice) !== 'allowed');
}

/** The user has agreed to it in this session. */
export const isConfirmed = (session: Session | undefined, name: string): boolean =>
  session !== undefined && stateOf(session).confirmedModes.has(name);
