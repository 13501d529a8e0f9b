// The Go server (source document 002): one session and one request at a time, a string as version, other names for updates.
import type { About, Dialect, Step } from '../dialect.ts';
import { added, type Dict, dict, isObject, list, lookUp, removed, text } from '../json.ts';
import { failed, type Message, type Notification, type Request, type Response, request, result } from '../message.ts';
import { COMMAND, PARTS, PROTOCOL_VERSION, STOP_REASONS, UNREAD_CODES, UNREAD_MESSAGE } from './table.ts';
import { readUpdate } from './update.ts';

// Converts a prompt to the parts the Go server has fields for, and extracts a command.
export function promptParams(params: Dict): Dict {
  const parts = list(params.prompt).map((block) => part(dict(block)));
  const [only] = parts;
  const [, name, input] = (parts.length === 1 && only?.type === 'text' ? COMMAND.exec(text(only.text) ?? '') : undefined) ?? [];
  const written = name === undefined ? undefined : { name, ...(input !== undefined && input !== '' && { input }) };
  // A client of this dialect sends the field itself.
  const command = isObject(params.command) ? params.command : written;
  return { sessionId: params.sessionId, prompt: parts, ...(command && { command }) };
}

/** The server has no field for links and files: they become text. */
function part(block: Dict): Dict {
  const { type, text: value, data, mimeType } = block;
  if (PARTS.has(String(type)))
    return {
      type,
      ...(value !== undefined && { text: value }),
      ...(data !== undefined && { data }),
      ...(mimeType !== undefined && { mimeType }),
    };
  if (type === 'resource_link') return { type: 'text', text: `[${text(block.title) ?? text(block.name) ?? ''}](${text(block.uri) ?? ''})` };
  if (type === 'resource') {
    const { uri, text: content, mimeType: mime } = dict(block.resource);
    const inside = typeof content === 'string' ? content : `(${text(mime) ?? 'binary'} content, not shown)`;
    return { type: 'text', text: `${text(uri) ?? ''}\n\`\`\`\n${inside}\n\`\`\`` };
  }
  return { type: 'text', text: JSON.stringify(block) };
}

type Turn = { readonly sessionId: string; readonly isCancelled: boolean };

type State = {
  readonly cancelMs: number;
  /** Methods of pending requests, by id. */
  readonly pending: ReadonlyMap<string, string>;
  /** Prompts without an answer, by id. */
  readonly turns: ReadonlyMap<string, Turn>;
  /** Tool calls seen since the last prompt. */
  readonly toolCalls: ReadonlySet<string>;
  readonly nextId: number;
};

export const agentkit: Dialect<State> = {
  isolation: 'session',
  takesServers: false,
  isTypicalAnswer({ result: value, error }) {
    const { code, message } = dict(error);
    if (error !== undefined) return UNREAD_CODES.includes(code) && UNREAD_MESSAGE.test(String(message));
    const { protocolVersion, agentCapabilities, capabilities } = dict(value);
    return (
      typeof protocolVersion === 'string' || (protocolVersion === undefined && agentCapabilities === undefined && isObject(capabilities))
    );
  },
  begin: ({ timeouts }: About) => ({
    cancelMs: timeouts.cancelMs,
    pending: new Map(),
    turns: new Map(),
    toolCalls: new Set(),
    nextId: 1,
  }),
  toAgent(state, message) {
    if (message.kind === 'request') return onRequest(state, message);
    if (message.kind === 'notification' && message.method === 'session/cancel') return cancels(state, message);
    return { state, toAgent: [message] };
  },
  toAcp(state, message) {
    if (message.kind === 'response') return answers(state, message);
    if (message.kind === 'notification' && message.method === 'session/update') return updates(state, message);
    return { state, toClient: [message] };
  },
  /** The server reads a cancel only after the turn, which may never end. */
  on(state, event) {
    if (event.kind !== 'alarm') return { state };
    const turn = state.turns.get(event.name);
    if (!turn?.isCancelled) return { state };
    return {
      state: { ...state, turns: removed(state.turns, event.name), pending: removed(state.pending, event.name) },
      toClient: [result(event.name, { stopReason: 'cancelled' })],
      kill: true,
    };
  },
};

function onRequest(state: State, message: Request): Step<State> {
  const known = { ...state, pending: added(state.pending, message.id, message.method) };
  const params = dict(message.params);
  switch (message.method) {
    case 'initialize':
      return { state: known, toAgent: [{ ...message, params: initializeParams(params) }] };
    case 'session/new':
      return {
        state: known,
        toAgent: [{ ...message, params: { metadata: metadata(params) } }],
        ...(list(params.mcpServers).length > 0 && {
          remarks: ['MCP servers of a session were dropped: the agentkit dialect cannot pass them on'],
        }),
      };
    case 'session/prompt': {
      const turns = added(state.turns, message.id, { sessionId: String(params.sessionId), isCancelled: false });
      return { state: { ...known, turns, toolCalls: new Set() }, toAgent: [{ ...message, params: promptParams(params) }] };
    }
    default:
      return { state: known, toAgent: [message] };
  }
}

function initializeParams({ clientInfo, clientCapabilities }: Dict): Dict {
  const { fs, terminal } = dict(clientCapabilities);
  const { readTextFile, writeTextFile } = dict(fs);
  const { name, version } = dict(clientInfo);
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: text(name) ?? 'acp-switchboard', version: text(version) ?? '' },
    capabilities: {
      terminal: terminal === true,
      'fs.readTextFile': readTextFile === true,
      'fs.writeTextFile': writeTextFile === true,
    },
  };
}

/** A map of strings: the client's `_meta`, the `metadata` of a client of this dialect, and `cwd`, which the policy has seen. */
function metadata({ cwd, _meta, metadata: own }: Dict): Dict {
  const strings = [...Object.entries(dict(_meta)), ...Object.entries(dict(own))].filter(([, value]) => typeof value === 'string');
  return { ...Object.fromEntries(strings), ...(typeof cwd === 'string' && { workDir: cwd }) };
}

/** Cancel is a request in this dialect; its answer is dropped. */
function cancels(state: State, message: Notification): Step<State> {
  const sessionId = String(dict(message.params).sessionId);
  const cancelled = [...state.turns].filter(([, turn]) => turn.sessionId === sessionId && !turn.isCancelled).map(([turnId]) => turnId);
  const id = JSON.stringify(`switchboard:${state.nextId}`);
  return {
    state: {
      ...state,
      nextId: state.nextId + 1,
      pending: added(state.pending, id, CANCEL),
      turns: cancelled.reduce((turns, turnId) => added(turns, turnId, { sessionId, isCancelled: true }), state.turns),
    },
    toAgent: [request(id, 'session/cancel', { sessionId })],
    ...(cancelled.length > 0 && { alarms: Object.fromEntries(cancelled.map((turnId) => [turnId, state.cancelMs * HEAD_START])) }),
  };
}

/** The process is killed before the proxy gives up the turn, so that the next prompt does not reach a blocked process. */
const HEAD_START = 0.9;
const CANCEL = 'switchboard cancel';

function answers(before: State, message: Response): Step<State> {
  const method = before.pending.get(message.id);
  const state = { ...before, pending: removed(before.pending, message.id) };
  if (method === CANCEL) return { state };
  if (method === 'session/prompt') return ends(state, message);
  if (message.error !== undefined || method === undefined) return { state, toClient: [message] };
  const value = message.result ?? {}; // the server omits an empty result
  if (method === 'initialize') return { state, toClient: [result(message.id, initializeResult(dict(value)))] };
  if (method === 'session/new') return { state, toClient: [result(message.id, opened(dict(value)))] };
  return { state, toClient: [value === message.result ? message : result(message.id, value)] };
}

function initializeResult({ protocolVersion: _, capabilities, agentCapabilities, ...other }: Dict): Dict {
  return { authMethods: [], ...other, protocolVersion: 1, agentCapabilities: dict(agentCapabilities ?? capabilities) };
}

function opened(value: Dict): Dict {
  const { session, ...other } = value as Record<string, unknown>;
  if (!isObject(session)) return value;
  const { id, metadata: about } = session;
  return { ...other, sessionId: id, ...(about !== undefined && { _meta: { ...dict(other._meta), metadata: about } }) };
}

function ends(state: State, message: Response): Step<State> {
  const isCancelled = state.turns.get(message.id)?.isCancelled === true;
  const known = { ...state, turns: removed(state.turns, message.id) };
  return { state: known, toClient: [ending(message, isCancelled)], alarms: { [message.id]: undefined } };
}

/** A cancelled turn ends as cancelled, even if the agent reads the cancel only afterwards. */
function ending(message: Response, isCancelled: boolean): Message {
  if (isCancelled) return result(message.id, { stopReason: 'cancelled' });
  if (message.error !== undefined) return message;
  const value = dict(message.result);
  const stopReason = text(value.stopReason) ?? 'endTurn';
  if (stopReason === 'error') return failed(message.id, -32603, 'The agent ended the turn with an error', { stopReason: stopReason });
  return result(message.id, { ...value, stopReason: lookUp(STOP_REASONS, stopReason) ?? stopReason });
}

function updates(state: State, message: Notification): Step<State> {
  const params = dict(message.params);
  if (!isObject(params.update)) return { state, toClient: [message] };
  let { toolCalls } = state;
  const isFirst = (toolCallId: string) => {
    if (toolCalls.has(toolCallId)) return false;
    toolCalls = new Set(toolCalls).add(toolCallId);
    return true;
  };
  const update = readUpdate(params.update, isFirst);
  return { state: { ...state, toolCalls }, toClient: [update === params.update ? message : { ...message, params: { ...params, update } }] };
}
