// Responses of the web app's agents, and what follows from each.
import type { Step } from '../dialect.ts';
import { camelKeys, type Dict, dict, isObject, list, number, text } from '../json.ts';
import { failed, type Message, type Response, result, update } from '../message.ts';
import { optionsOf, readModels, readModes } from './options.ts';
import { ownId, type PendingRequest, type State, sessionOf, withoutPending, withPending, withSession } from './state.ts';
import { LIST_MODELS, LOGIN_REQUIRED, SELECT_MODEL } from './table.ts';
import { chooseBy, listModels, noteMode } from './to-agent.ts';

/** An agent that does not know the method may also stay silent. */
const MODELS_MS = 2000;

export function answer(before: State, message: Response): Step<State> {
  const pending = before.pending.get(message.id);
  const state = withoutPending(before, message.id);
  if (!pending) return { state, toClient: [message] };
  switch (pending.what) {
    case 'initialize':
      return { state, toClient: [good(message, initialized)] };
    case 'open':
      return opened(state, pending, message);
    case 'models':
      return listed(state, pending, message.error === undefined ? message.result : undefined);
    case 'model':
    case 'mode':
      return chosen(state, pending, message);
    case 'prompt':
      return ended(state, message);
    case 'other':
      return { state, toClient: [good(message, plain)] };
    case 'extension':
      return { state, toClient: [good(message, (value) => (value === undefined ? {} : value))] };
  }
}

/** Corrects a result, or the code of an error. */
function good(message: Response, put: (value: unknown) => unknown): Response {
  if (message.error === undefined) {
    const value = put(message.result);
    return value === message.result ? message : result(message.id, value);
  }
  const error = dict(message.error);
  const isLoginRequired = error.code === 401 || LOGIN_REQUIRED.test(`${text(error.message) ?? ''} ${text(error.data) ?? ''}`);
  return isLoginRequired && error.code !== -32000 ? { ...message, error: { ...error, code: -32000 } } : message;
}

const plain = (value: unknown): unknown => (isObject(value) ? camelKeys(value) : (value ?? {}));

function initialized(value: unknown): unknown {
  const known = camelKeys(dict(value)) as Dict;
  const protocolVersion = number(known.protocolVersion) ?? 1;
  return { ...known, protocolVersion, agentCapabilities: dict(known.agentCapabilities), authMethods: list(known.authMethods) };
}

/** Before the client receives a new session, the dialect asks the agent for its models. */
function opened(state: State, pending: PendingRequest & { what: 'open' }, message: Response): Step<State> {
  const answer = good(message, plain);
  const value = dict(answer.result);
  const sessionId = text(value.sessionId) ?? pending.sessionId;
  if (answer.error !== undefined || sessionId === undefined) return { state, toClient: [answer] };
  const known = {
    ...withSession(state, sessionId, { cwd: pending.cwd, own: list(value.configOptions), modes: readModes(value.modes) }),
    latest: sessionId,
  };
  if (state.listsBy === 'not') return { state: known, toClient: [answer] };
  return askForModels(known, state.listsBy === undefined ? 0 : LIST_MODELS.indexOf(state.listsBy), sessionId, answer);
}

function askForModels(state: State, way: number, sessionId: string, waiting: Response): Step<State> {
  const id = ownId(state);
  return {
    state: withPending({ ...state, nextId: state.nextId + 1 }, id, { what: 'models', way, sessionId, opened: waiting }),
    toAgent: [listModels(state, id, LIST_MODELS[way] as string, sessionId)],
    alarms: { [id]: MODELS_MS },
  };
}

/** With models, the session gets options; without, its response is forwarded as it is. */
export function listed(state: State, pending: PendingRequest & { what: 'models' }, answer: unknown): Step<State> {
  const { sessionId, way, opened: waiting } = pending;
  const models = readModels(answer);
  if (!models && way + 1 < LIST_MODELS.length && state.listsBy === undefined) return askForModels(state, way + 1, sessionId, waiting);
  if (!models) return { state: { ...state, listsBy: state.listsBy ?? 'not' }, toClient: [waiting] };
  const known = { ...withSession(state, sessionId, { models }), listsBy: LIST_MODELS[way] as (typeof LIST_MODELS)[number] };
  const configOptions = offered(known, sessionId);
  return { state: known, toClient: [result(waiting.id, { ...dict(waiting.result), configOptions })] };
}

/** All options of a session; undefined if none is derived from models or modes. */
export function offered(state: State, sessionId: string): readonly unknown[] | undefined {
  const { own, models, modes } = sessionOf(state, sessionId);
  return models && optionsOf(own, models, modes);
}

/** Updates the option after a choice. If the agent does not know the first method, tries the other. */
function chosen(state: State, pending: PendingRequest & { what: 'model' | 'mode' }, message: Response): Step<State> {
  const { what, sessionId, value, id, way } = pending;
  const to = id ?? message.id;
  if (message.error !== undefined) {
    const isUnknown = dict(message.error).code === -32601;
    if (what === 'model' && isUnknown && way + 1 < SELECT_MODEL.length) return chooseBy(state, { ...pending, way: way + 1 });
    return { state, toClient: [{ ...good(message, plain), id: to }] };
  }
  const { models } = sessionOf(state, sessionId);
  const known =
    what === 'mode'
      ? noteMode(state, sessionId, value)
      : models
        ? withSession(state, sessionId, { models: { ...models, current: value } })
        : state;
  const configOptions = offered(known, sessionId);
  if (id !== undefined) return { state: known, toClient: [result(id, { configOptions })] };
  const changed = configOptions && update(sessionId, { sessionUpdate: 'config_option_update', configOptions });
  return { state: known, toClient: [good(message, plain), ...(changed ? [changed] : [])] };
}

/** An `error` or `refusal` update determines how the turn ends, unless the response is an error. */
function ended(state: State, message: Response): Step<State> {
  const turn = state.turns.find(({ id }) => id === message.id);
  const known = { ...state, turns: state.turns.filter((other) => other !== turn) };
  const answer = good(message, finished);
  const stopReason = dict(answer.result).stopReason;
  const ending: Message =
    answer.error !== undefined || stopReason === 'cancelled'
      ? answer
      : turn?.error !== undefined
        ? good(failed(message.id, -32603, turn.error), plain)
        : turn?.isRefused
          ? result(message.id, { ...dict(answer.result), stopReason: 'refusal' })
          : answer;
  return { state: known, toClient: [ending] };
}

function finished(value: unknown): unknown {
  const known = dict(plain(value));
  return typeof known.stopReason === 'string' && isObject(value) && value.stopReason === known.stopReason
    ? value
    : { ...known, stopReason: text(known.stopReason) ?? 'end_turn' };
}

/** Remembers the maximum number of tokens for updates that omit it. */
export const noteTokens = (state: State, sessionId: string, size: unknown): State =>
  number(size) === undefined ? state : withSession(state, sessionId, { maxTokens: number(size) });
