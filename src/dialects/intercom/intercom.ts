// The operator stream (source document 001): no replies, no sessions, no end of a turn. All of that is made up for here.
import type { About, Dialect, DialectEvent, Step } from '../dialect.ts';
import { added, type Dict, dict, list, lookUp, removed, text } from '../json.ts';
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
  MAX_LINE_BYTES,
  NUDGE,
  PLAN_STATUSES,
  REQUIRED,
  STREAM_CLOSED,
  TOO_LONG,
  WRITE_FAILED,
} from './table.ts';

// A request for clearance as a question about permission.
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
      content: [...(description === undefined ? [] : [words(description)]), ...(diff === undefined ? [] : [diffContent(path, diff)])],
      locations: [{ path }],
      rawInput: params,
    },
    options: CLEARANCE_OPTIONS,
    ...(params.risk_level !== undefined && { _meta: { risk_level: params.risk_level } }),
  };
}

const words = (said: string): Dict => ({ type: 'content', content: { type: 'text', text: said } });

/** One that cannot be read as two texts is shown as it is. */
function diffContent(path: string, diff: string): Dict {
  const texts = textsOfDiff(diff);
  return texts ? { type: 'diff', path, ...texts } : words(`\`\`\`diff\n${diff}\n\`\`\``);
}

/** A question put to the editor: what it was, and the agent's own id of it. */
type Question = { readonly what: 'clearance' | 'form' | 'choice'; readonly id: string };

type State = {
  readonly about: About;
  readonly hasNotices: boolean;
  readonly hasForms: boolean;
  readonly session: { readonly id: string; readonly cwd: string | undefined } | undefined;
  /** Prompts without an end, by id. */
  readonly turns: readonly string[];
  readonly questions: ReadonlyMap<string, Question>;
  readonly nextId: number;
  /** What was said before there was a session to say it in. */
  readonly early: readonly Dict[];
  /** It has spoken, or has been waited for as long as a start may take: its silence means something from here on. */
  readonly isUp: boolean;
  /** It does not read any more. */
  readonly isUnresponsive: boolean;
};

const QUIET = 'quiet';
const STALL = 'stall';
const MAX_EARLY = 100;
const NOISE_SHOWN = 200;

export const intercom: Dialect<State> = {
  isolation: 'session',
  takesServers: false,
  isBare: true,
  isItsMethod: (method) => Object.hasOwn(REQUIRED, method),
  begin: (about) => ({
    about,
    hasNotices: false,
    hasForms: false,
    session: undefined,
    turns: [],
    questions: new Map(),
    nextId: 1,
    early: [],
    isUp: false,
    isUnresponsive: false,
  }),
  toAgent(state, message) {
    if (message.kind === 'response') return decided(state, message);
    if (message.kind === 'request') return asks(state, message);
    if (message.method !== 'session/cancel') return { state };
    const interrupt = notification('session/interrupt', { reason: INTERRUPT_REASON });
    return { ...ended(state, 'cancelled'), toAgent: [interrupt] };
  },
  toAcp(state, message) {
    const step = heard(state, message);
    if (step.remarks) return step;
    const known = { ...step.state, isUp: true };
    return { ...step, state: known, alarms: waiting(known) };
  },
  on: happened,
};

/** The methods of a session are answered here; the agent hears of prompts only. */
function asks(state: State, message: Request): Step<State> {
  const { id, method } = message;
  const params = dict(message.params);
  switch (method) {
    case 'initialize': {
      const { session, elicitation } = dict(params.clientCapabilities);
      const isOffered = (value: unknown) => value !== undefined && value !== null && value !== false;
      const greeting = {
        protocolVersion: 1,
        agentCapabilities: { loadSession: false, promptCapabilities: { image: false, audio: false, embeddedContext: true } },
        agentInfo: { name: state.about.agent, version: '' },
        authMethods: [],
      };
      const known = { ...state, hasNotices: isOffered(dict(session).notices), hasForms: isOffered(dict(elicitation).form) };
      return { state: known, toClient: [result(id, greeting)] };
    }
    case 'session/new':
      return opens(state, id, params);
    case 'session/close':
    case 'authenticate':
      return { state, toClient: [result(id, {})] };
    case 'session/prompt':
      if (state.isUnresponsive) return { state, toClient: [failed(id, -32603, WRITE_FAILED)] };
      return begins(state, id, promptText(params));
    default:
      return { state, toClient: [failed(id, -32601, `Method not found: ${method}`, { method })] };
  }
}

function opens(state: State, id: string, { cwd }: Dict): Step<State> {
  if (state.session) return { state, toClient: [failed(id, -32603, 'This agent holds one session: set its "isolation" to "session"')] };
  const session = { id: `intercom-${state.about.mint()}`, cwd: text(cwd) };
  const known = { ...state, session, early: [] };
  return { state: known, toClient: [result(id, { sessionId: session.id }), ...state.early.map((said) => update(session.id, said))] };
}

function begins(state: State, id: string, words: string): Step<State> {
  const prompt = notification('prompt/send', { text: words });
  if (Buffer.byteLength(lineOf(prompt, true)) > MAX_LINE_BYTES) return { state, toClient: [failed(id, -32602, TOO_LONG)] };
  const known = { ...state, turns: [...state.turns, id] };
  return { state: known, toAgent: [prompt], alarms: waiting(known) };
}

function promptText({ prompt }: Dict): string {
  const parts = list(prompt).map((block) => {
    const { type, text: words, uri, resource } = dict(block);
    if (typeof words === 'string') return words;
    if (type === 'resource_link') return text(uri) ?? '';
    const { uri: from, text: content } = dict(resource);
    return type === 'resource' ? `${text(from) ?? ''}\n${text(content) ?? ''}` : '';
  });
  return parts.filter((part) => part !== '').join('\n');
}

/** A turn ends when it has been quiet for long enough; while the agent starts, or the operator is asked, it is not quiet. */
function waiting({ turns, questions, about, isUp }: State): Readonly<Record<string, number | undefined>> {
  const isWaiting = turns.length > 0 && questions.size === 0;
  const { initializeMs, stallMs } = about.timeouts;
  const quietMs = isUp ? about.timeouts.quietMs : Math.max(about.timeouts.quietMs, initializeMs);
  return { [QUIET]: isWaiting ? quietMs : undefined, [STALL]: isWaiting && stallMs > 0 && stallMs < quietMs ? stallMs : undefined };
}

function ended(state: State, stopReason: string): Step<State> {
  const known = { ...state, turns: [] };
  return { state: known, toClient: state.turns.map((id) => result(id, { stopReason })), alarms: waiting(known) };
}

function happened(state: State, event: DialectEvent): Step<State> {
  const { agent } = state.about;
  switch (event.kind) {
    case 'noise':
      return { state, remarks: [`a line from agent "${agent}" was skipped, since it is not JSON: ${event.line.slice(0, NOISE_SHOWN)}`] };
    case 'alarm':
      if (event.name === QUIET) return ended({ ...state, isUp: true }, 'end_turn');
      return { state, toAgent: [notification('nudge', { message: NUDGE })] };
    case 'eof':
      return said(state, notice(state, STREAM_CLOSED, 'warning'));
    case 'exit':
      // Whoever leaves in good order is done; of any other end the proxy tells.
      return event.code === 0 ? ended(state, 'end_turn') : { state };
    case 'deaf': {
      const known = { ...state, isUnresponsive: true, turns: [] };
      return { state: known, toClient: state.turns.map((id) => failed(id, -32603, WRITE_FAILED)), alarms: waiting(known) };
    }
  }
}

function heard(state: State, message: Message): Step<State> {
  const { agent } = state.about;
  const required = message.kind === 'response' ? undefined : lookUp(REQUIRED, message.method);
  if (message.kind === 'response' || !required)
    return {
      state,
      remarks: [
        `a line from agent "${agent}" was skipped: ${message.kind === 'response' ? 'it names no method' : `its method ${message.method} is not known`}`,
      ],
    };
  const params = dict(message.params);
  const missing = required.find((key) => (key === 'id' ? message.kind !== 'request' : text(params[key]) === undefined));
  if (missing !== undefined) return { state, remarks: [`a ${message.method} from agent "${agent}" was skipped: "${missing}" is missing`] };
  switch (message.method) {
    case 'status/update':
      return said(state, notice(state, text(params.message) ?? '', 'info'));
    case 'heartbeat':
      return params.progress === undefined ? { state } : said(state, plan(params.progress));
    default:
      return asked(state, message as Request, params);
  }
}

function said(state: State, words: Dict): Step<State> {
  if (state.session) return { state, toClient: [update(state.session.id, words)] };
  return { state: { ...state, early: [...state.early, words].slice(-MAX_EARLY) } };
}

function notice({ hasNotices }: State, words: string, severity: 'info' | 'warning'): Dict {
  if (hasNotices) return { sessionUpdate: 'notice', severity, title: words };
  return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `${words}\n` } };
}

function plan(progress: unknown): Dict {
  const entries = list(progress).map((entry) => {
    const { label, status } = dict(entry);
    return { content: text(label) ?? '', priority: 'medium', status: lookUp(PLAN_STATUSES, status) ?? 'pending' };
  });
  return { sessionUpdate: 'plan', entries };
}

/** The operator's question becomes the editor's, under an id of ours: theirs may be any text. */
function asked(state: State, message: Request, params: Dict): Step<State> {
  const { session, nextId, hasForms } = state;
  if (!session) return { state, toAgent: [refusal(message.method === 'clearance/request' ? 'clearance' : 'choice', message.id)] };
  const id = String(nextId);
  const isClearance = message.method === 'clearance/request';
  const what = isClearance ? 'clearance' : hasForms ? 'form' : 'choice';
  const known = { ...state, nextId: nextId + 1, questions: added<string, Question>(state.questions, id, { what, id: message.id }) };
  const theirs = String(JSON.parse(message.id));
  if (what === 'clearance')
    return { state: known, toClient: [request(id, 'session/request_permission', permissionOf(session.id, session.cwd, theirs, params))] };
  const words = text(params.text) ?? '';
  if (what === 'form') {
    const form = { sessionId: session.id, mode: 'form', message: words, requestedSchema: FORWARD_FORM };
    return { state: known, toClient: [request(id, 'elicitation/create', form)] };
  }
  const toolCall = { toolCallId: `prompt-${theirs}`, title: words, kind: 'other', status: 'pending', rawInput: params };
  return {
    state: known,
    toClient: [request(id, 'session/request_permission', { sessionId: session.id, toolCall, options: FORWARD_OPTIONS })],
  };
}

/** The editor's answer. Whatever is not a clear yes is a no. */
function decided(state: State, message: Response): Step<State> {
  const question = state.questions.get(message.id);
  if (!question) return { state };
  const known = { ...state, questions: removed(state.questions, message.id) };
  return { state: known, toAgent: [verdict(question, dict(message.result), message.error !== undefined)], alarms: waiting(known) };
}

function verdict({ what, id }: Question, answer: Dict, isError: boolean): Message {
  const { outcome, optionId } = dict(answer.outcome);
  const chosen = !isError && outcome === 'selected' ? optionId : undefined;
  if (what === 'clearance') {
    const said = text(dict(answer._meta).reason) ?? null;
    const reason = isError ? 'the operator could not be asked' : outcome === 'cancelled' ? 'cancelled' : said;
    return chosen === APPROVED ? request(id, 'clearance/response', { status: APPROVED, reason: said }) : refusal(what, id, reason);
  }
  if (what === 'choice') return chosen === CONTINUE ? goOn(id, null) : refusal(what, id);
  const { decision, instruction } = dict(answer.content);
  const isYes = !isError && answer.action === 'accept' && decision === CONTINUE;
  const words = text(instruction) === '' ? null : (text(instruction) ?? null);
  return isYes ? goOn(id, words) : refusal(what, id, answer.action === 'accept' ? words : null);
}

const goOn = (id: string, instruction: string | null): Message => request(id, 'prompt/response', { decision: CONTINUE, instruction });

function refusal(what: Question['what'], id: string, words: string | null = null): Message {
  if (what === 'clearance') return request(id, 'clearance/response', { status: 'rejected', reason: words });
  return request(id, 'prompt/response', { decision: 'stop', instruction: words });
}
