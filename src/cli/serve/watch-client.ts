// Turns frames between the editor and the proxy into console events. Requests and responses are few and always read. Updates are many and
// read only while a page is open; the transcript then fills the gap.

import { OPENS_SESSION } from '../../acp/methods.ts';
import type { Accepts, Block } from '../../console/protocol/conversation.ts';
import { blockOf, type Fields, list, text } from '../../console/state/read-update.ts';
import { agentIn } from '../../console/state/session-options.ts';
import { fields } from '../../json-object.ts';
import type { Frame } from '../../wire/frame.ts';
import { type Observer, patchedId, patchedText } from '../../wire/observer.ts';
import type { Patch } from '../../wire/writer.ts';

export type ClientEvents = {
  opened(sessionId: string, about: { readonly cwd: string; readonly agent: string | undefined }, answer: Fields): void;
  options(sessionId: string, answer: Fields): void;
  update(sessionId: string, update: Fields): void;
  prompt(sessionId: string, text: string, blocks: readonly Block[]): void;
  end(sessionId: string, how: { readonly stopReason?: string; readonly error?: string }): void;
  closed(sessionId: string): void;
  /** A permission request, under the id the client knows. */
  requested(id: string, sessionId: string, params: Fields): void;
  /** An elicitation. It has no session when none is open yet. */
  elicited(id: string, sessionId: string | undefined, params: Fields): void;
  /** The client answered. `option` is the index of the option, undefined for none; `action` is the outcome of an elicitation. */
  answered(id: string, option: number | undefined, action: string | undefined): void;
  /** The request was cancelled. */
  withdrawn(id: string): void;
};

export type ClientWatch = {
  readonly observer: Observer;
  /** Reports every event from now on. */
  begin(events: ClientEvents): void;
  /** Whether updates are reported. */
  isAwake: boolean;
};

type Passed = {
  readonly frame: Frame | undefined;
  readonly line: string;
  readonly patches: readonly Patch[];
  readonly isReceived: boolean;
};
type PendingRequest = { readonly method: string; readonly params: Fields };

const REQUESTS = new Set([...OPENS_SESSION, 'session/prompt', 'session/set_config_option', 'session/close', 'session/delete']);
const USER_REQUESTS = new Set(['session/request_permission', 'elicitation/create']);
const NONE: readonly Patch[] = [];
const MAX_PENDING = 10_000;

export function watchClient(): ClientWatch {
  const fromClient = new Map<string, PendingRequest>();
  const toClient = new Map<string, Fields>();
  let events: ClientEvents | undefined;
  let waiting: Passed[] = [];

  function note(passed: Passed): void {
    if (waiting.push(passed) === 1) setImmediate(drain);
  }
  function drain(): void {
    const passed = waiting;
    waiting = [];
    for (const one of passed) read(one);
  }
  function read({ frame, line, patches, isReceived }: Passed): void {
    if (!events || (frame && !isWanted(frame, patches, isReceived))) return;
    const message = parse(frame ? patchedText(frame, patches) : line);
    const { method, params } = message;
    const id = message.id === undefined ? undefined : JSON.stringify(message.id);
    if (typeof method !== 'string') return isReceived ? answerOfClient(events, id, message) : answerToClient(events, id, message);
    if (isReceived) return onClientFrame(events, method, id, fields(params));
    onAgentFrame(events, method, id, fields(params));
  }
  /** File contents and images pass here too; do not parse them without need. */
  function isWanted(frame: Frame, patches: readonly Patch[], isReceived: boolean): boolean {
    const { kind, method = '' } = frame;
    if (kind === 'notification') return method === 'session/update' || method === '$/cancel_request';
    if (kind === 'request') return isReceived ? REQUESTS.has(method) : USER_REQUESTS.has(method);
    const id = patchedId(frame, patches) ?? '';
    return isReceived ? toClient.has(id) : fromClient.has(id);
  }
  function onClientFrame(on: ClientEvents, method: string, id: string | undefined, params: Fields): void {
    if (id === undefined || !REQUESTS.has(method) || fromClient.size >= MAX_PENDING) return;
    fromClient.set(id, { method, params });
    if (method !== 'session/prompt') return;
    const blocks = list(params.prompt).map(blockOf);
    const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    on.prompt(
      String(params.sessionId),
      text,
      blocks.filter(({ type }) => type !== 'text'),
    );
  }
  function answerToClient(on: ClientEvents, id: string | undefined, message: Fields): void {
    const requested = id === undefined ? undefined : fromClient.get(id);
    if (!requested || id === undefined) return;
    fromClient.delete(id);
    const { method, params } = requested;
    const result = fields(message.result);
    const sessionId = String(result.sessionId ?? params.sessionId);
    const error = message.error === undefined ? undefined : (text(fields(message.error).message) ?? 'failed');
    if (method === 'session/prompt') on.end(sessionId, error === undefined ? { stopReason: String(result.stopReason) } : { error });
    if (error !== undefined) return;
    if (OPENS_SESSION.has(method)) {
      const agent = agentIn(result) ?? text(fields(fields(params._meta)['acp-switchboard']).agent);
      on.opened(sessionId, { cwd: text(params.cwd) ?? '', agent }, result);
    }
    if (method === 'session/set_config_option') on.options(sessionId, result);
    if (method === 'session/close' || method === 'session/delete') on.closed(sessionId);
  }
  function onAgentFrame(on: ClientEvents, method: string, id: string | undefined, params: Fields): void {
    if (method === 'session/update') on.update(String(params.sessionId), fields(params.update));
    if (method === '$/cancel_request') withdraw(on, JSON.stringify(params.requestId));
    if (!USER_REQUESTS.has(method) || id === undefined || toClient.size >= MAX_PENDING) return;
    toClient.set(id, params);
    if (method === 'elicitation/create') on.elicited(id, text(params.sessionId), params);
    else on.requested(id, String(params.sessionId), params);
  }
  function answerOfClient(on: ClientEvents, id: string | undefined, message: Fields): void {
    const params = id === undefined ? undefined : toClient.get(id);
    if (!params || id === undefined) return;
    toClient.delete(id);
    const { outcome, action } = fields(message.result);
    const { optionId } = fields(outcome);
    const option = list(params.options).findIndex((one) => fields(one).optionId === optionId);
    on.answered(id, optionId === undefined || option === -1 ? undefined : option, text(action));
  }
  function withdraw(on: ClientEvents, id: string): void {
    if (toClient.delete(id)) on.withdrawn(id);
  }

  const self: ClientWatch = {
    isAwake: false,
    begin(listener) {
      events = listener;
    },
    observer: {
      received(frame) {
        if (frame.kind !== 'notification') note({ frame, line: '', patches: NONE, isReceived: true });
      },
      refused: () => {},
      sent(frame, patches) {
        if (frame.kind !== 'notification' || self.isAwake) note({ frame, line: '', patches, isReceived: false });
      },
      sentLine(line) {
        note({ frame: undefined, line, patches: NONE, isReceived: false });
      },
    },
  };
  return self;
}

function parse(line: string): Fields {
  try {
    return fields(JSON.parse(line));
  } catch {
    return {};
  }
}

export const NOTHING_ACCEPTED: Accepts = { image: false, audio: false, embeddedContext: false };
