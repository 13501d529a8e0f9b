// Converts ACP messages for the web app's agents.
import type { Step } from '../dialect.ts';
import { type Dict, dict, isObject, lookUp, text } from '../json.ts';
import { type Message, type Request, request } from '../message.ts';
import { ownId, type State, sessionOf, withPending, withSession } from './state.ts';
import { BOTH_SPELLINGS, PARAMS, SELECT_MODEL } from './table.ts';

const SNAKE = Object.fromEntries(Object.entries(PARAMS).map(([theirs, acp]) => [acp, theirs]));

export function toAgent(state: State, message: Message): Step<State> {
  if (message.kind === 'response') return { state, toAgent: [message] };
  const params = dict(message.params);
  const sessionId = text(params.sessionId);
  const known = sessionId === undefined ? state : { ...state, latest: sessionId };
  const sent: Message = message.method === 'initialize' ? message : { ...message, params: spelled(message.params, state.isUnsure) };
  if (message.kind === 'notification') return { state: known, toAgent: [sent] };
  switch (message.method) {
    case 'initialize':
      return { state: withPending(known, message.id, { what: 'initialize' }), toAgent: [sent] };
    case 'session/new':
    case 'session/load':
    case 'session/resume':
    case 'session/fork':
      return { state: withPending(known, message.id, { what: 'open', sessionId, cwd: text(params.cwd) }), toAgent: [sent] };
    case 'session/prompt':
      if (sessionId === undefined) break;
      return {
        state: {
          ...withPending(known, message.id, { what: 'prompt', sessionId }),
          turns: [...known.turns, { id: message.id, sessionId }],
        },
        toAgent: [sent],
      };
    case 'session/set_mode':
      if (sessionId === undefined || typeof params.modeId !== 'string') break;
      return {
        state: withPending(known, message.id, { what: 'mode', way: 0, sessionId, value: params.modeId, id: undefined }),
        toAgent: [sent],
      };
    case 'session/set_config_option': {
      const chosen = derivedOption(known, params);
      if (chosen) return choose(known, message, chosen);
    }
  }
  const what = message.method.startsWith('_') ? 'extension' : 'other';
  return { state: withPending(known, message.id, { what }), toAgent: [sent] };
}

/** Respells the top level only; deeper keys are spelled as in ACP. */
function spelled(params: unknown, isUnsure: boolean): unknown {
  if (!isObject(params)) return params;
  const entries = Object.entries(params).flatMap(([key, value]) => {
    const theirs = lookUp(SNAKE, key);
    if (theirs === undefined) return [[key, value]];
    return isUnsure || BOTH_SPELLINGS.has(key)
      ? [
          [theirs, value],
          [key, value],
        ]
      : [[theirs, value]];
  });
  return Object.fromEntries(entries);
}

type Chosen = { readonly what: 'model' | 'mode'; readonly sessionId: string; readonly value: string };

/** An option derived from the agent's models or modes. */
function derivedOption(state: State, { sessionId, configId, value }: Dict): Chosen | undefined {
  if (typeof sessionId !== 'string' || typeof value !== 'string') return undefined;
  const { models, modes, own } = sessionOf(state, sessionId);
  const isOwn = own.some((option) => dict(option).id === configId);
  if (isOwn || !models) return undefined;
  if (configId === 'model') return { what: 'model', sessionId, value };
  return configId === 'mode' && modes ? { what: 'mode', sessionId, value } : undefined;
}

function choose(state: State, { id }: Request, chosen: Chosen): Step<State> {
  return chooseBy(state, { ...chosen, way: 0, id });
}

/** Requests a model or mode by the method with that index. */
export function chooseBy(state: State, chosen: Chosen & { readonly way: number; readonly id: string | undefined }): Step<State> {
  const ours = ownId(state);
  const { what, sessionId, value, way } = chosen;
  const params = spelled({ sessionId, [what === 'model' ? 'modelId' : 'modeId']: value }, state.isUnsure);
  const method = what === 'model' ? SELECT_MODEL[way] : 'session/set_mode';
  return {
    state: withPending({ ...state, nextId: state.nextId + 1 }, ours, chosen),
    toAgent: [request(ours, method as string, params)],
  };
}

export const listModels = (state: State, id: string, method: string, sessionId: string): Request =>
  request(id, method, spelled({ sessionId }, state.isUnsure));

export const noteMode = (state: State, sessionId: string, current: string): State => {
  const { modes } = sessionOf(state, sessionId);
  return modes ? withSession(state, sessionId, { modes: { ...modes, current } }) : state;
};
