// The operator stream (source document 001) has no replies, no sessions and no end of a turn. The dialect supplies them.
import { isOffered } from '../../acp/shapes.ts';
import type { About, Dialect, DialectEvent, Step } from '../dialect.ts';
import { added, type Dict, dict, isObject, list, lookUp, removed, text } from '../json.ts';
import { failed, lineOf, type Message, notification, type Request, type Response, request, result, update } from '../message.ts';
import { absolute } from '../paths.ts';
import { textsOfDiff } from '../unified-diff.ts';
import {
  APPROVED,
  CLEARANCE_OPTIONS,
  CONTINUE,
  FORWARD_FORM,
  FORWARD_OPTIONS,
  INTERRUPT_REASON,
  mute,
  NO_METHOD,
  NUDGE,
  PLAN_STATUSES,
  REQUIRED,
  STREAM_CLOSED,
  tooLong,
  WRITE_FAILED,
} from './table.ts';

// Converts a clearance request to a permission request.
export function permissionOf(sessionId: string, cwd: string | undefined, id: string, params: Dict): Dict {
  const path = absolute(cwd, text(params.file_path) ?? '');
  const description = text(params.description);
  const diff = text(params.diff);
  return {
    sessionId,
    toolCall: {
      toolCallId: `clearance-${id}`,
      title: params.title,
      kind: diff !== undefined && /^\+\+\+ \/dev\/null\s*$/m.test(diff) ? 'delete' : 'edit',
      status: 'pending',
      content: [...(description === undefined ? [] : [textContent(description)]), ...(diff === undefined ? [] : [diffContent(path, diff)])],
      locations: [{ path }],
      rawInput: params,
    },
    options: CLEARANCE_OPTIONS,
    ...(params.risk_level !== undefined && { _meta: { risk_level: params.risk_level } }),
  };
}

const textContent = (value: string): Dict => ({ type: 'content', content: { type: 'text', text: value } });

/** A diff that cannot be read as two texts is shown as text. */
function diffContent(path: string, diff: string): Dict {
  const texts = textsOfDiff(diff);
  return texts ? { type: 'diff', path, ...texts } : textContent(`\`\`\`diff\n${diff}\n\`\`\``);
}

/** A request sent to the client: its form, and the agent's own id for it. */
type PendingRequest = { readonly what: 'clearance' | 'form' | 'choice'; readonly id: string };

type State = {
  readonly about: About;
  readonly hasNotices: boolean;
  readonly hasForms: boolean;
  readonly session: { readonly id: string; readonly cwd: string | undefined } | undefined;
  /** Prompts in progress, by id. */
  readonly turns: readonly string[];
  readonly pending: ReadonlyMap<string, PendingRequest>;
  readonly nextId: number;
  /** Updates that arrived before the session existed. */
  readonly early: readonly Dict[];
  /** The agent has sent something: from now on silence ends a turn. Until then it is an error. */
  readonly isUp: boolean;
  /** The agent's input is closed. */
  readonly isUnresponsive: boolean;
  /** The agent's output is closed. */
  readonly isClosed: boolean;
};

/** The operator's own words, for which ACP has no field. */
const reasonIn = ({ _meta }: Dict): string | undefined => text(dict(_meta).reason);

const QUIET = 'quiet';
const STALL = 'stall';
const MAX_EARLY = 100;
const NOISE_SHOWN = 200;

export const intercom: Dialect<State> = {
  isolation: 'session',
  takesServers: false,
  isBare: true,
  isTypicalMethod: (method) => Object.hasOwn(REQUIRED, method),
  begin: (about) => ({
    about,
    hasNotices: false,
    hasForms: false,
    session: undefined,
    turns: [],
    pending: new Map(),
    nextId: 1,
    early: [],
    isUp: false,
    isUnresponsive: false,
    isClosed: false,
  }),
  toAgent(state, message) {
    if (message.kind === 'response') return onAnswer(state, message);
    if (message.kind === 'request') return onRequest(state, message);
    if (message.method !== 'session/cancel') return { state };
    const interrupt = notification('session/interrupt', { reason: reasonIn(dict(message.params)) ?? INTERRUPT_REASON });
    return { ...endTurns(state, 'cancelled'), toAgent: [interrupt] };
  },
  toAcp(state, message) {
    const step = onMessage(state, message);
    if (step.remarks || step.details) return step;
    const known = { ...step.state, isUp: true };
    return { ...step, state: known, alarms: waiting(known) };
  },
  on: onEvent,
};

/** The dialect answers the session methods; the agent receives only prompts. */
function onRequest(state: State, message: Request): Step<State> {
  const { id, method } = message;
  const params = dict(message.params);
  switch (method) {
    case 'initialize': {
      const { session, elicitation } = dict(params.clientCapabilities);
      const initializeResult = {
        protocolVersion: 1,
        agentCapabilities: { loadSession: false, promptCapabilities: { image: false, audio: false, embeddedContext: true } },
        agentInfo: { name: state.about.agent, version: '' },
        authMethods: [],
      };
      const known = { ...state, hasNotices: isOffered(dict(session).notices), hasForms: isOffered(dict(elicitation).form) };
      return { state: known, toClient: [result(id, initializeResult)] };
    }
    case 'session/new':
      return openSession(state, id, params);
    case 'session/close':
    case 'authenticate':
      return { state, toClient: [result(id, {})] };
    case 'session/prompt':
      if (state.isUnresponsive) return { state, toClient: [failed(id, -32603, WRITE_FAILED)] };
      if (state.isClosed) return { state, toClient: [failed(id, -32603, sessionEnded(state), { reason: STREAM_CLOSED })] };
      return startTurn(state, id, promptText(params));
    default:
      return { state, toClient: [failed(id, -32601, `Method not found: ${method}`, { method })] };
  }
}

function openSession(state: State, id: string, { cwd }: Dict): Step<State> {
  if (state.session) return { state, toClient: [failed(id, -32603, 'This agent holds one session: set its "isolation" to "session"')] };
  const session = { id: `intercom-${state.about.mint()}`, cwd: text(cwd) };
  const known = { ...state, session, early: [] };
  return { state: known, toClient: [result(id, { sessionId: session.id }), ...state.early.map((held) => update(session.id, held))] };
}

function startTurn(state: State, id: string, prompted: string): Step<State> {
  const prompt = notification('prompt/send', { text: prompted });
  const { agent, maxLineBytes } = state.about;
  if (Buffer.byteLength(lineOf(prompt, true)) > maxLineBytes)
    return { state, toClient: [failed(id, -32602, tooLong(agent, maxLineBytes))] };
  const known = { ...state, turns: [...state.turns, id] };
  return { state: known, toAgent: [prompt], alarms: waiting(known) };
}

function promptText({ prompt }: Dict): string {
  const parts = list(prompt).map((block) => {
    const { type, text: content, uri, resource } = dict(block);
    if (typeof content === 'string') return content;
    if (type === 'resource_link') return text(uri) ?? '';
    const { uri: from, text: embedded } = dict(resource);
    return type === 'resource' ? `${text(from) ?? ''}\n${text(embedded) ?? ''}` : '';
  });
  return parts.filter((part) => part !== '').join('\n');
}

/** How long the agent may be silent. */
const limitMs = ({ about: { timeouts }, isUp }: Pick<State, 'about' | 'isUp'>): number =>
  isUp ? timeouts.quietMs : Math.max(timeouts.quietMs, timeouts.initializeMs);

/** A turn ends after enough silence. Start-up and a pending request do not count as silence. */
function waiting({ turns, pending: questions, about, isUp }: State): Readonly<Record<string, number | undefined>> {
  const isWaiting = turns.length > 0 && questions.size === 0;
  const { stallMs } = about.timeouts;
  const quietMs = limitMs({ about, isUp });
  return { [QUIET]: isWaiting ? quietMs : undefined, [STALL]: isWaiting && stallMs > 0 && stallMs < quietMs ? stallMs : undefined };
}

const endTurns = (state: State, stopReason: string): Step<State> => settleTurns(state, (id) => result(id, { stopReason }));

const failTurns = (state: State, message: string): Step<State> => settleTurns(state, (id) => failed(id, -32603, message));

function settleTurns(state: State, answer: (id: string) => Message): Step<State> {
  const known = { ...state, turns: [] };
  return { state: known, toClient: state.turns.map(answer), alarms: waiting(known) };
}

const sessionEnded = ({ session, about }: State): string =>
  `Session "${session?.id ?? ''}" of agent "${about.agent}" ended: ${STREAM_CLOSED}; open a new session`;

function onEvent(state: State, event: DialectEvent): Step<State> {
  const { agent } = state.about;
  switch (event.kind) {
    case 'noise':
      return { state, remarks: [`skipped a line from agent "${agent}": ${whyNoise(event.line)}`] };
    case 'alarm':
      if (event.name === QUIET) return state.isUp ? endTurns(state, 'end_turn') : failTurns(state, mute(agent, limitMs(state)));
      return { state, toAgent: [notification('nudge', { message: NUDGE })] };
    case 'eof':
      return sendUpdate({ ...state, isClosed: true }, statusUpdate(state, sessionEnded(state), 'warning'));
    case 'exit':
      // A clean exit ends the turn; the proxy reports any other exit.
      return event.code === 0 ? endTurns(state, 'end_turn') : { state };
    case 'unwritable':
      return failTurns({ ...state, isUnresponsive: true }, WRITE_FAILED);
  }
}

/** A message without a method is a missing field; anything else is not JSON. */
function whyNoise(line: string): string {
  try {
    if (isObject(JSON.parse(line))) return NO_METHOD;
  } catch {}
  return `it is not JSON: ${line.slice(0, NOISE_SHOWN)}`;
}

function onMessage(state: State, message: Message): Step<State> {
  const { agent } = state.about;
  const required = message.kind === 'response' ? undefined : lookUp(REQUIRED, message.method);
  if (message.kind === 'response') return { state, remarks: [`skipped a line from agent "${agent}": ${NO_METHOD}`] };
  if (!required) return { state, details: [`skipped a line from agent "${agent}": unknown method ${message.method}`] };
  const params = dict(message.params);
  const missing = required.find((key) => (key === 'id' ? message.kind !== 'request' : text(params[key]) === undefined));
  if (missing !== undefined) return { state, remarks: [`skipped a ${message.method} from agent "${agent}": "${missing}" is missing`] };
  switch (message.method) {
    case 'status/update':
      return sendUpdate(state, statusUpdate(state, text(params.message) ?? '', 'info'));
    case 'heartbeat':
      return params.progress === undefined ? { state } : sendUpdate(state, plan(params.progress));
    default:
      return askClient(state, message as Request, params);
  }
}

function sendUpdate(state: State, content: Dict): Step<State> {
  if (state.session) return { state, toClient: [update(state.session.id, content)] };
  return { state: { ...state, early: [...state.early, content].slice(-MAX_EARLY) } };
}

function statusUpdate({ hasNotices }: State, message: string, severity: 'info' | 'warning'): Dict {
  if (hasNotices) return { sessionUpdate: 'notice', severity, title: message };
  return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `${message}\n` } };
}

function plan(progress: unknown): Dict {
  const entries = list(progress).map((entry) => {
    const { label, status } = dict(entry);
    return { content: text(label) ?? '', priority: 'medium', status: lookUp(PLAN_STATUSES, status) ?? 'pending' };
  });
  return { sessionUpdate: 'plan', entries };
}

/** The operator's request becomes the client's, under an id of the switchboard: the agent's id may be any text. */
function askClient(state: State, message: Request, params: Dict): Step<State> {
  const { session, nextId, hasForms } = state;
  if (!session) return { state, toAgent: [refusal(message.method === 'clearance/request' ? 'clearance' : 'choice', message.id)] };
  const id = String(nextId);
  const isClearance = message.method === 'clearance/request';
  const what = isClearance ? 'clearance' : hasForms ? 'form' : 'choice';
  const known = { ...state, nextId: nextId + 1, pending: added<string, PendingRequest>(state.pending, id, { what, id: message.id }) };
  const theirs = String(JSON.parse(message.id));
  if (what === 'clearance')
    return { state: known, toClient: [request(id, 'session/request_permission', permissionOf(session.id, session.cwd, theirs, params))] };
  const question = text(params.text) ?? '';
  if (what === 'form') {
    const form = { sessionId: session.id, mode: 'form', message: question, requestedSchema: FORWARD_FORM };
    return { state: known, toClient: [request(id, 'elicitation/create', form)] };
  }
  const toolCall = { toolCallId: `prompt-${theirs}`, title: question, kind: 'other', status: 'pending', rawInput: params };
  return {
    state: known,
    toClient: [request(id, 'session/request_permission', { sessionId: session.id, toolCall, options: FORWARD_OPTIONS })],
  };
}

/** The client's answer. Anything but a clear approval is a rejection. */
function onAnswer(state: State, message: Response): Step<State> {
  const answered = state.pending.get(message.id);
  if (!answered) return { state };
  const known = { ...state, pending: removed(state.pending, message.id) };
  return { state: known, toAgent: [agentAnswer(answered, dict(message.result), message.error !== undefined)], alarms: waiting(known) };
}

function agentAnswer({ what, id }: PendingRequest, answer: Dict, isError: boolean): Message {
  const { outcome, optionId } = dict(answer.outcome);
  const chosen = !isError && outcome === 'selected' ? optionId : undefined;
  const given = reasonIn(answer) ?? null;
  if (what === 'clearance') {
    const reason = given ?? (isError ? 'the operator could not be asked' : outcome === 'cancelled' ? 'cancelled' : null);
    return chosen === APPROVED ? request(id, 'clearance/response', { status: APPROVED, reason: given }) : refusal(what, id, reason);
  }
  if (what === 'choice') return chosen === CONTINUE ? continuation(id, given) : refusal(what, id, given);
  const { decision, instruction } = dict(answer.content);
  const isAccepted = !isError && answer.action === 'accept' && decision === CONTINUE;
  const comment = text(instruction) === '' ? null : (text(instruction) ?? null);
  return isAccepted ? continuation(id, comment) : refusal(what, id, answer.action === 'accept' ? comment : null);
}

const continuation = (id: string, instruction: string | null): Message =>
  request(id, 'prompt/response', { decision: CONTINUE, instruction });

function refusal(what: PendingRequest['what'], id: string, comment: string | null = null): Message {
  if (what === 'clearance') return request(id, 'clearance/response', { status: 'rejected', reason: comment });
  return request(id, 'prompt/response', { decision: 'stop', instruction: comment });
}
