// Observes the client connection and writes the transcript of each session. Frames are only queued when they pass, and read later.

import { OPENS_SESSION } from '../../acp/methods.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { type Observer, patchedId, patchedText } from '../../wire/observer.ts';
import { endOf, type FrameBatch, framesOf } from '../../wire/scanner/frame-batch.ts';
import { type Interned, InternedMap, tokenOf } from '../../wire/scanner/interned.ts';
import { sessionIdOf, sessionTokenOf, stringIn } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import { chunkSpan, type Role, roleOfTexts } from './frame-text.ts';
import { createOpenTranscripts, type Kept, type TranscriptOptions } from './open-transcripts.ts';
import { historyOf, type ReplayMatcher } from './replay-matcher.ts';
import { hasTranscript } from './transcript-files.ts';
import { promptSpan, promptText, stopReasonIn } from './turn-frames.ts';

export type TranscriptObserver = Observer & {
  /** A prompt that waits for a turn has another text now. */
  promptChanged(sessionId: string, id: string, text: string): void;
  /** Writes everything so far, except incomplete messages. */
  settle(): void;
  /** The session was deleted: discards it, and later updates of it, until it is opened again. */
  forget(sessionId: string): void;
  /** From now on, the session that the client knows by this id is recorded under another one. */
  recordAs(sessionId: string, recordId: string): void;
  recordIdOf(sessionId: string): string;
  /** Writes everything. */
  close(): void;
};

/** A pending request, from or to the client, with the `params` needed to read its response. */
type PendingRequest = { readonly method: string; readonly sessionId: string | undefined; readonly params: Fields };
type Fields = Readonly<Record<string, unknown>>;

/** A frame that has not been read yet. */
type Passed = {
  readonly frame: Frame | undefined;
  readonly line: string;
  readonly patches: readonly Patch[];
  readonly isReceived: boolean;
};

/** Reading and redacting a larger frame would delay other work; the transcript only notes it. */
const MAX_FRAME_BYTES = 256 * 1024;
const MAX_WAITING = 100_000;
/** Waits for more frames, unless many are queued: an immediate answer is not delayed by reading its request. */
const READ_MS = 5;
const READ_FRAMES = 256;
const READ_BYTES = 256 * 1024;
const MAX_PENDING = 10_000;
/** Prompts that wait for a turn are kept in memory: more are written at once. */
const MAX_LATER_BYTES = 256 * 1024;
const NO_PATCHES: readonly Patch[] = [];
const NOTHING: Fields = {};
const PLAIN_ID = /^(?:[1-9]\d{0,14}|0|"[^"\\]*")$/;

const FROM_CLIENT = new Set([...OPENS_SESSION, 'session/prompt', 'session/set_mode']);
const TO_CLIENT = new Set(['session/request_permission']);
const KEPT_UPDATES = new Set([
  ...['agent_message_chunk', 'agent_thought_chunk', 'user_message_chunk', 'tool_call', 'tool_call_update'],
  ...['plan', 'current_mode_update', 'session_info_update', 'usage_update'],
]);

export function createTranscriptObserver(options: TranscriptOptions): TranscriptObserver {
  const { dir, clean, now, onProblem } = options;
  const transcripts = createOpenTranscripts(options);
  const byToken = new Map<string, Kept>();
  const named = new InternedMap<Kept>();
  const fromClient = new Map<string, PendingRequest>();
  const toClient = new Map<string, PendingRequest>();
  /** A bare frame or batch is updates forwarded unchanged, as nearly all are. */
  let waiting: (Frame | FrameBatch | Passed)[] = [];
  let waitingFrames = 0;
  let waitingBytes = 0;
  /** Whether a request to the client may be among the queued frames. */
  let mayHaveRequest = false;
  let readTimer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  function note(passed: Frame | FrameBatch | Passed, bytes: number, frames = 1): void {
    if (waitingFrames >= MAX_WAITING) return;
    waiting.push(passed);
    waitingFrames += frames;
    waitingBytes += bytes;
    if (waitingFrames >= READ_FRAMES || waitingBytes >= READ_BYTES) immediate ??= setImmediate(drain);
    else readTimer ??= setTimeout(drain, READ_MS).unref();
  }
  function drain(): void {
    clearTimeout(readTimer);
    clearImmediate(immediate);
    readTimer = undefined;
    immediate = undefined;
    waitingFrames = 0;
    waitingBytes = 0;
    mayHaveRequest = false;
    const passed = waiting;
    waiting = [];
    for (let k = 0; k < passed.length; k++) readOne(passed[k] as Frame | FrameBatch | Passed);
    transcripts.scheduleWrite();
  }
  /** Caches the last session, because every chunk repeats its id. */
  function keptOfFrame(frame: Frame): Kept | undefined {
    if (frame.session) return keptOfInterned(frame.session);
    const token = sessionTokenOf(frame);
    return token === undefined ? undefined : keptByToken(token);
  }
  function keptOfInterned(id: Interned): Kept {
    const known = named.get(id);
    if (known) return known;
    const kept = keptByToken(tokenOf(id));
    named.set(id, kept);
    return kept;
  }
  /** By the JSON token of the session id. */
  function keptByToken(token: string): Kept {
    const kept = byToken.get(token) ?? transcripts.of(JSON.parse(token));
    byToken.set(token, kept);
    return kept;
  }

  function readOne(one: Frame | FrameBatch | Passed): void {
    try {
      if ('ends' in one) updates(one);
      else if ('isReceived' in one) read(one);
      else update(one, NO_PATCHES);
    } catch (error) {
      onProblem(error); // a frame of an unexpected shape; continue with the next one
    }
  }
  function read({ frame, line, patches, isReceived }: Passed): void {
    if (frame?.kind === 'notification') return update(frame, patches);
    if (frame && frame.end - frame.start > MAX_FRAME_BYTES) return large(frame, patches, isReceived);
    if (frame && (isReceived ? takePlainPrompt(frame) : takePlainEnd(frame, patches))) return;
    const message: Fields = JSON.parse(frame ? patchedText(frame, patches) : line);
    const id = JSON.stringify(message.id);
    const { method, params } = message as { method?: string; params?: Fields };
    if (method === undefined) return isReceived ? answerOfClient(toClient, id, message) : answerToClient(id, message);
    if (message.id === undefined) return updateOf(params);
    const sessionId = typeof params?.sessionId === 'string' ? params.sessionId : undefined;
    const open = isReceived ? fromClient : toClient;
    if (!(isReceived ? FROM_CLIENT : TO_CLIENT).has(method) || open.size >= MAX_PENDING) return;
    open.set(id, { method, sessionId, params: neededLater(method, params ?? {}) });
    if (isReceived && sessionId !== undefined) begin(id, method, sessionId, params ?? {});
  }
  /** Records a text-only prompt as it is. False for any other prompt. */
  function takePlainPrompt(frame: Frame): boolean {
    const span = frame.method === 'session/prompt' && fromClient.size < MAX_PENDING ? promptSpan(frame) : undefined;
    const sessionId = span && sessionIdOf(frame);
    if (!span || sessionId === undefined) return false;
    const id = idOf(frame, NO_PATCHES);
    fromClient.set(id, { method: 'session/prompt', sessionId, params: NOTHING });
    const kept = transcripts.of(sessionId);
    if (isWrittenNow(kept, id, span.end - span.start)) kept.transcript.prompt(frame.bytes, span.start, span.end);
    else {
      const text = Buffer.from(frame.bytes.subarray(span.start, span.end)); // a copy: the turn may take long
      kept.laterPrompts?.set(id, () => kept.transcript.prompt(text, 0, text.length));
    }
    return true;
  }
  /** Handles a response that no request here awaits, or that only ends its turn. False for any other response. */
  function takePlainEnd(frame: Frame, patches: readonly Patch[]): boolean {
    if (frame.kind !== 'response') return false;
    const id = idOf(frame, patches);
    const request = fromClient.get(id);
    if (!request) return true;
    const stopReason = request.method === 'session/prompt' ? stopReasonIn(frame) : undefined;
    if (stopReason === undefined || request.sessionId === undefined) return false;
    fromClient.delete(id);
    endTurn(id, request.sessionId, { stopReason }, undefined);
    return true;
  }
  function begin(id: string, method: string, sessionId: string, params: Fields): void {
    if (OPENS_SESSION.has(method)) transcripts.again(sessionId);
    const kept = transcripts.of(sessionId);
    // An agent replays earlier messages while it loads. Without a transcript of them, record them.
    if (method === 'session/load') kept.isReplay = hasTranscript(dir, transcripts.recordIdOf(sessionId));
    if (method === 'session/prompt')
      addPrompt(kept, id, JSON.stringify(params.prompt ?? '').length, { kind: 'prompt', ...promptText(params.prompt) });
  }
  /** False while an earlier prompt of the session has no answer: then this one is written later, unless too much waits. */
  function isWrittenNow(kept: Kept, id: string, bytes: number): boolean {
    if (kept.openPrompt === undefined) {
      kept.openPrompt = id;
      return true;
    }
    kept.laterPrompts ??= new Map();
    if (kept.laterPrompts.size === 0) kept.laterBytes = 0;
    kept.laterBytes += bytes;
    return kept.laterBytes > MAX_LATER_BYTES;
  }
  function addPrompt(kept: Kept, id: string, bytes: number, entry: Parameters<Kept['transcript']['add']>[0]): void {
    if (isWrittenNow(kept, id, bytes)) kept.transcript.add(entry);
    else kept.laterPrompts?.set(id, () => kept.transcript.add(entry));
  }
  function update(frame: Frame, patches: readonly Patch[]): void {
    if (frame.sessionId === undefined) return;
    const patched = patches.length === 0 ? undefined : patches.find((patch) => patch.span.start === frame.sessionId?.start)?.text;
    const chunk = patches.length === 0 || patched !== undefined ? chunkSpan(frame) : undefined;
    if (chunk || frame.end - frame.start > MAX_FRAME_BYTES) {
      const kept = patched === undefined ? keptOfFrame(frame) : keptByToken(patched);
      if (!kept || kept.isReplay) return;
      const { transcript } = kept;
      if (kept.lateReplay?.(JSON.parse(patchedText(frame, patches)).params.update)) return;
      if (chunk) transcript.chunk(chunk.role, undefined, frame.bytes, chunk.start, chunk.end);
      else if (KEPT_UPDATES.has(stringIn(frame, 'update', 'sessionUpdate') ?? 'tool_call'))
        transcript.add({ kind: 'omitted', bytes: frame.end - frame.start });
    } else updateOf((JSON.parse(patchedText(frame, patches)) as { params?: Fields }).params);
  }
  function updates(batch: FrameBatch): void {
    const { first } = batch;
    const role = roleOfTexts(first);
    if (role === undefined || first.text === undefined) {
      for (const frame of framesOf(batch)) readOne(frame);
      return;
    }
    if (batch.sessions) return updatesOfSessions(role, batch, batch.sessions, first.text);
    const kept = keptOfFrame(first);
    if (kept?.lateReplay) for (const frame of framesOf(batch)) readOne(frame);
    else if (kept && !kept.isReplay) kept.transcript.chunks(role, batch, first.text);
  }
  function updatesOfSessions(role: Role, batch: FrameBatch, sessions: readonly Interned[], text: Span): void {
    const { first, ends } = batch;
    const before = text.start + 1 - first.start;
    const behind = first.end + 1 - (text.end - 1);
    let start = first.start;
    for (let k = 0; k < ends.length; k++) {
      const kept = keptOfInterned(sessions[k] as Interned);
      const next = (ends[k] as number) + 1;
      if (kept.lateReplay) readOne(framesOf(batch)[k] as Frame);
      else if (!kept.isReplay) kept.transcript.chunk(role, undefined, first.bytes, start + before, next - behind);
      start = next;
    }
  }
  function updateOf(params: Fields | undefined): void {
    if (typeof params?.sessionId !== 'string' || typeof params.update !== 'object' || params.update === null) return;
    const news = params.update as Fields;
    // A session without recorded updates costs nothing: many are opened and never used.
    if (!KEPT_UPDATES.has(String(news.sessionUpdate))) return;
    const kept = transcripts.of(params.sessionId);
    if (!kept.isReplay && !kept.lateReplay?.(news)) kept.transcript.update(news);
  }
  /** A large prompt or response: records what it was about, not its content. */
  function large(frame: Frame, patches: readonly Patch[], isReceived: boolean): void {
    const span = frame.sessionId;
    if (frame.kind === 'response') {
      const id = idOf(frame, patches);
      return isReceived ? void toClient.delete(id) : answerToClient(id, {});
    }
    if (!isReceived || frame.method !== 'session/prompt' || span === undefined) return;
    const sessionId: string = sessionIdOf(frame) ?? '';
    const id = idOf(frame, patches);
    fromClient.set(id, { method: 'session/prompt', sessionId, params: NOTHING });
    addPrompt(transcripts.of(sessionId), id, 0, { kind: 'omitted', bytes: frame.end - frame.start });
  }

  function answerOfClient(open: Map<string, PendingRequest>, id: string, { result }: Fields): void {
    const request = open.get(id);
    open.delete(id);
    if (request?.sessionId === undefined) return;
    const { outcome, optionId } = ((result as Fields | undefined)?.outcome ?? {}) as Fields;
    const { toolCall, options } = request.params as { toolCall?: Fields; options?: readonly Fields[] };
    const option = options?.find((one) => one.optionId === optionId);
    transcripts.of(request.sessionId).transcript.add({
      kind: 'permission',
      ...{ toolCallId: toolCall?.toolCallId, title: toolCall?.title },
      outcome: typeof outcome === 'string' ? outcome : 'failed',
      ...(option && { option: { optionId, name: option.name, kind: option.kind } }),
    });
  }
  function answerToClient(id: string, { result, error }: Fields): void {
    const request = fromClient.get(id);
    fromClient.delete(id);
    if (!request) return;
    const { method, params } = request;
    const answer = (result ?? {}) as Fields;
    const sessionId = request.sessionId ?? (typeof answer.sessionId === 'string' ? answer.sessionId : undefined);
    if (sessionId === undefined) return;
    if (method === 'session/new' || method === 'session/fork') return transcripts.again(String(answer.sessionId));
    const kept = transcripts.of(sessionId);
    if (OPENS_SESSION.has(method)) {
      if (kept.isReplay) kept.lateReplay = lateReplay(sessionId);
      kept.isReplay = false;
      if (error === undefined)
        kept.transcript.add({ kind: 'opened', sessionId, method, ...(typeof params.cwd === 'string' && { cwd: params.cwd }) });
    } else if (method === 'session/set_mode' && error === undefined) kept.transcript.add({ kind: 'mode', modeId: params.modeId });
    else if (method === 'session/prompt') endTurn(id, sessionId, answer, error as Fields | undefined);
  }
  /** Some agents (gemini) answer a load and then send the history. It is known by its content, until the first prompt is answered. */
  function lateReplay(sessionId: string): (update: unknown) => boolean {
    let history: ReplayMatcher | undefined;
    return (update) => {
      if (!history?.isOn && (update as Fields | null)?.sessionUpdate !== 'user_message_chunk') return false;
      if (!history) transcripts.writeAll();
      history ??= historyOf(dir, transcripts.recordIdOf(sessionId), transcripts.of(sessionId).openPrompt !== undefined, clean.text);
      return history?.isReplay(update) === true;
    };
  }
  function endTurn(id: string, sessionId: string, { stopReason, usage }: Fields, error: Fields | undefined): void {
    const kept = transcripts.of(sessionId);
    if (kept.laterPrompts?.delete(id)) return; // it never reached the agent
    const { transcript } = kept;
    kept.lateReplay = undefined;
    transcript.end();
    const reported = usage === undefined ? transcript.usage() : { ...(transcript.usage() as object | undefined), ...(usage as object) };
    transcript.add({ kind: 'turn', stopReason, error: error ? String(error.message) : undefined, usage: reported });
    transcripts.turnEnded({
      sessionId,
      t: now(),
      title: transcript.title(),
      prompt: transcript.firstWords(),
      stopReason: error ? 'error' : String(stopReason),
      usage: reported === undefined ? undefined : clean.json(reported),
    });
    if (kept.openPrompt === id) nextPrompt(kept);
  }
  function nextPrompt(kept: Kept): void {
    const [next] = kept.laterPrompts ?? [];
    kept.openPrompt = next?.[0];
    if (!next) return;
    kept.laterPrompts?.delete(next[0]);
    next[1]();
  }

  return {
    skips: { receivedNotes: true },
    received: (frame) => {
      if (frame.kind === 'response' ? toClient.size > 0 || mayHaveRequest : frame.kind === 'request' && FROM_CLIENT.has(frame.method ?? ''))
        note({ frame, line: '', patches: NO_PATCHES, isReceived: true }, frame.end - frame.start);
    },
    sent(frame, patches) {
      const { kind, method, start, end } = frame;
      if (kind === 'notification' && method === 'session/update')
        return note(patches.length === 0 ? frame : { frame, line: '', patches, isReceived: false }, end - start);
      const isRequest = TO_CLIENT.has(method ?? '');
      if (isRequest) mayHaveRequest = true;
      if (isRequest || kind === 'response') note({ frame, line: '', patches, isReceived: false }, end - start);
    },
    sentBatch(batch) {
      if (batch.first.method === 'session/update') note(batch, endOf(batch) - batch.first.start, batch.ends.length);
    },
    sentLine: (line) => {
      mayHaveRequest = true; // it may be a request
      note({ frame: undefined, line, patches: NO_PATCHES, isReceived: false }, line.length);
    },
    refused: () => {},
    promptChanged(sessionId, id, text) {
      drain();
      const { laterPrompts, transcript } = transcripts.of(sessionId);
      const key = JSON.stringify(JSON.parse(id));
      if (laterPrompts?.has(key)) laterPrompts.set(key, () => transcript.add({ kind: 'prompt', text }));
    },
    settle() {
      drain();
      transcripts.writeAll();
    },
    recordAs: transcripts.recordAs,
    recordIdOf: transcripts.recordIdOf,
    forget(sessionId) {
      drain();
      const kept = transcripts.forget(sessionId);
      for (const [token, one] of byToken) if (one === kept) byToken.delete(token);
      named.clear();
    },
    close() {
      drain();
      transcripts.close();
    },
  };
}

/** The id of an outgoing request or response, as `JSON.stringify` writes it. */
function idOf(frame: Frame, patches: readonly Patch[]): string {
  const text = patchedId(frame, patches) ?? 'null';
  return PLAIN_ID.test(text) ? text : JSON.stringify(JSON.parse(text));
}

/** Not the text of a prompt: the client may send very many to an agent that does not answer. */
function neededLater(method: string, { cwd, modeId, toolCall, options }: Fields): Fields {
  if (method === 'session/prompt') return NOTHING;
  const { toolCallId, title } = (toolCall ?? {}) as Fields;
  return { cwd, modeId, toolCall: { toolCallId, title }, options };
}
