// The web app's generic agents (source document 004): snake_case params, bare updates, models by methods of their own.
import type { About, Dialect, DialectEvent, Step } from '../dialect.ts';
import { type Dict, dict, isObject, list, renamed, text, without } from '../json.ts';
import { type Message, type Notification, notification, type Request, update } from '../message.ts';
import { answer, listed, noteTokens, offered } from './answers.ts';
import { impliedSession, type State, sessionOf, withoutPending, withSession } from './state.ts';
import { INITIALIZE_KEYS, PARAMS } from './table.ts';
import { noteMode, toAgent } from './to-agent.ts';
import { toolCall } from './tool-call.ts';
import { readUpdate } from './update.ts';

export const webapp: Dialect<State> = {
  isolation: 'shared',
  takesServers: true,
  isTypicalAnswer: ({ result }) => Object.keys(dict(result)).some((key) => INITIALIZE_KEYS.includes(key)),
  begin: ({ isNamed }: About) => ({
    isUnsure: !isNamed,
    pending: new Map(),
    sessions: new Map(),
    turns: [],
    latest: undefined,
    nextId: 1,
    listsBy: undefined,
  }),
  toAgent,
  toAcp(state, message) {
    if (message.kind === 'response') return answer(state, message);
    if (message.kind === 'request') return { state, toClient: [acpRequest(state, message)] };
    return message.method === 'session/update' ? updated(state, message) : { state, toClient: [named(message)] };
  },
  on(state, event: DialectEvent) {
    if (event.kind !== 'alarm') return { state };
    const waiting = state.pending.get(event.name);
    return waiting?.what === 'models' ? listed(withoutPending(state, event.name), waiting, undefined) : { state };
  },
};

/** Renames params as in ACP and adds a missing session id. */
function acpParams(state: State, params: unknown): Dict {
  const known = renamed(dict(params), PARAMS);
  const sessionId = text(known.sessionId) ?? impliedSession(state);
  return known.sessionId === undefined && sessionId !== undefined ? { sessionId, ...known } : known;
}

function named(message: Notification): Message {
  if (!isObject(message.params)) return message;
  const params = renamed(message.params, PARAMS);
  return params === message.params ? message : { ...message, params };
}

const SESSION_METHOD = /^(session|fs|terminal|elicitation)\//;

function acpRequest(state: State, message: Request): Message {
  if (!SESSION_METHOD.test(message.method)) return message;
  const params = acpParams(state, message.params);
  if (message.method === 'session/request_permission') return { ...message, params: permission(state, params) };
  if (message.method === 'terminal/create' && isObject(params.env)) {
    const env = Object.entries(params.env).map(([name, value]) => ({ name, value }));
    return { ...message, params: { ...params, env } };
  }
  return params === message.params ? message : { ...message, params };
}

function permission(state: State, params: Dict): Dict {
  const { cwd } = sessionOf(state, String(params.sessionId));
  const call = toolCall(renamed(dict(params.toolCall), { id: 'toolCallId' }), cwd);
  return {
    ...params,
    toolCall: { ...call, toolCallId: text(call.toolCallId) ?? 'permission' },
    options: list(params.options).map((option) =>
      isObject(option) ? titled(renamed(option, { id: 'optionId', option_id: 'optionId' })) : option,
    ),
  };
}

const titled = (option: Dict): Dict => (option.name === undefined ? { ...option, name: text(option.optionId) ?? '' } : option);

function updated(state: State, message: Notification): Step<State> {
  const params = renamed(dict(message.params), PARAMS);
  const bare = isObject(params.update) ? params.update : without(params, 'sessionId');
  const sessionId = text(params.sessionId) ?? text(bare.sessionId) ?? text(bare.session_id) ?? impliedSession(state);
  if (sessionId === undefined) return { state, remarks: ['skipped an update without a session id: no session is open yet'] };
  const { cwd, maxTokens } = sessionOf(state, sessionId);
  const read = readUpdate(isObject(params.update) ? bare : without(bare, 'session_id'), { cwd, maxTokens });
  if (read.kind !== 'update') return ending(state, sessionId, read.kind, read.message);
  const forwarded = notification('session/update', { ...(isObject(params.update) ? params : {}), sessionId, update: read.update });
  switch (read.update.sessionUpdate) {
    case 'usage_update':
      return { state: noteTokens(state, sessionId, read.update.size), toClient: [forwarded] };
    case 'config_option_update': {
      const known = withSession(state, sessionId, { own: list(read.update.configOptions) });
      const configOptions = offered(known, sessionId);
      return { state: known, toClient: [configOptions ? update(sessionId, { ...read.update, configOptions }) : forwarded] };
    }
    case 'current_mode_update': {
      const known = noteMode(state, sessionId, String(read.update.currentModeId));
      const configOptions = known === state ? undefined : offered(known, sessionId);
      return {
        state: known,
        toClient: [forwarded, ...(configOptions ? [update(sessionId, { sessionUpdate: 'config_option_update', configOptions })] : [])],
      };
    }
    default:
      return { state, toClient: [forwarded] };
  }
}

/** Records how the turn will end; outside a turn, shows the message at once. */
function ending(state: State, sessionId: string, kind: 'error' | 'refusal', message: string | undefined): Step<State> {
  const turn = state.turns.findLast((one) => one.sessionId === sessionId);
  const shown = update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: message ?? kind } });
  if (!turn) return { state, toClient: [shown] };
  const noted = kind === 'error' ? { ...turn, error: message ?? 'The agent reported an error' } : { ...turn, isRefused: true };
  return {
    state: { ...state, turns: state.turns.map((one) => (one === turn ? noted : one)) },
    ...(kind === 'refusal' && message !== undefined && { toClient: [shown] }),
  };
}
