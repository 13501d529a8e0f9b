// Replays a recording as an agent. Each session is a script: the replay finds the client's message in it and sends the agent's next
// messages, up to the next client message.
import { OPENS_SESSION } from '../../acp/methods.ts';
import type { Message, Recorded } from './recording.ts';

export type Player = {
  hear(message: Message): void;
  /** The client disconnected. In strict mode, returns the difference from the recording. */
  end(): string | undefined;
};

export type PlayerOptions = {
  readonly strict: boolean;
  readonly send: (message: Message) => void;
  /** Calls back after the recorded delay; without a delay, before it returns. */
  readonly after: (ms: number, then: () => void) => void;
  /** The first difference, in strict mode. */
  readonly onDifference: (what: string) => void;
};

/** One script and its position. */
type Script = {
  readonly entries: readonly Recorded[];
  /** Client messages received, by index, with the id the client used. */
  readonly come: Map<number, unknown>;
  at: number;
  /** The client's session id, if it differs from the recorded one. */
  sessionId: unknown;
  recordedId: unknown;
  isWaiting: boolean;
};

const NO_SESSION = '';
/** If the client sends these more often than recorded, they get the last recorded answer. */
const REPEATABLE = new Set(['initialize', 'session/list', 'auth/status']);

export function createPlayer(recording: readonly Recorded[], { strict, send, after, onDifference }: PlayerOptions): Player {
  const scripts = scriptsOf(recording);
  const loose = scripts.get(NO_SESSION) ?? script([]);
  const place = new Map(recording.map((entry, at) => [entry, at]));
  /** The client's messages in recorded order. */
  const inOrder = [...scripts.values()]
    .flatMap((of) =>
      of.entries.flatMap((entry, index) => (entry.dir === 'client->agent' ? [{ of, index, at: place.get(entry) ?? 0 }] : [])),
    )
    .sort((a, b) => a.at - b.at);
  /** Requests that the replay sent to the client, by id, with the script that waits for the answer. */
  const pending = new Map<string, { readonly of: Script; readonly index: number }>();
  let difference: string | undefined;

  function differs(what: string): void {
    difference ??= what;
    if (strict && difference === what) onDifference(what);
  }

  function advance(of: Script): void {
    if (of.isWaiting) return;
    while (of.at < of.entries.length) {
      const entry = of.entries[of.at] as Recorded;
      if (entry.dir === 'client->agent') {
        if (of.come.has(of.at) || mayPass(of, entry)) of.at++;
        else return;
        continue;
      }
      const before = of.entries[of.at - 1];
      of.isWaiting = true;
      let isNow = true;
      after(before ? entry.t - before.t : 0, () => {
        of.isWaiting = false;
        say(of, entry);
        of.at++;
        if (!isNow) advance(of);
      });
      isNow = false;
      if (of.isWaiting) return;
    }
  }
  /** Skips a request that the client left out, once the client has moved on; waits for a response. */
  function mayPass(of: Script, { msg }: Recorded): boolean {
    if (msg.method === undefined)
      return !of.entries
        .slice(0, of.at)
        .some((earlier, k) => isRequestOf(earlier, 'agent->client', msg.id) && pending.has(requestKey(of, k)));
    const later = [...of.come.keys()].some((index) => index > of.at);
    if (later) differs(`the client did not send ${String(msg.method)}`);
    return later;
  }
  function say(of: Script, { msg }: Recorded): void {
    if (msg.method === undefined) {
      const index = of.entries.findLastIndex((entry, k) => k < of.at && isRequestOf(entry, 'client->agent', msg.id));
      // The client left out the request, so its response is left out too.
      if (of.come.has(index)) send(renamed(of, { ...msg, id: of.come.get(index) }));
      return;
    }
    if (msg.id !== undefined) pending.set(requestKey(of, of.at), { of, index: of.at });
    send(renamed(of, msg.id === undefined ? msg : { ...msg, id: requestKey(of, of.at) }));
  }
  /** The replay assigns its own ids: two recorded sessions may use the same one. */
  const requestKey = (of: Script, index: number): string => `r${[...scripts.values()].indexOf(of)}.${index}`;

  function renamed(of: Script, message: Message): Message {
    if (of.sessionId === of.recordedId) return message;
    const { params } = message as { params?: { sessionId?: unknown } };
    return params?.sessionId === of.recordedId ? { ...message, params: { ...params, sessionId: of.sessionId } } : message;
  }

  function answered(message: Message): void {
    const waiting = typeof message.id === 'string' ? pending.get(message.id) : undefined;
    if (!waiting) return;
    const { of, index } = waiting;
    const { id } = (of.entries[index] as Recorded).msg;
    pending.delete(message.id as string);
    const answer = of.entries.findIndex(
      (entry, k) => k > index && entry.dir === 'client->agent' && entry.msg.method === undefined && entry.msg.id === id,
    );
    const recorded = of.entries[answer]?.msg;
    if (strict && recorded && !isSame({ result: recorded.result, error: recorded.error }, { result: message.result, error: message.error }))
      differs(`another answer to ${String((of.entries[index] as Recorded).msg.method)}`);
    if (answer >= 0) of.come.set(answer, undefined);
    advance(of);
  }

  function find(message: Message): { readonly of: Script; readonly index: number } | undefined {
    const { method, params } = message as { method: string; params?: { sessionId?: unknown } };
    const of = scriptFor(method, params?.sessionId);
    if (!of) return undefined;
    const isIt = ({ dir, msg }: Recorded) => dir === 'client->agent' && msg.method === method;
    const index = of.entries.findIndex((entry, k) => k >= of.at && !of.come.has(k) && isIt(entry));
    if (index >= 0) return { of, index };
    return REPEATABLE.has(method) ? { of, index: of.entries.findLastIndex(isIt) } : undefined;
  }
  function scriptFor(method: string, sessionId: unknown): Script | undefined {
    // The next recorded one, even if it failed.
    if (method === 'session/new' || method === 'session/fork')
      return inOrder.find(({ of, index }) => index >= of.at && !of.come.has(index) && of.entries[index]?.msg.method === method)?.of;
    if (typeof sessionId !== 'string') return loose;
    const known = [...scripts.values()].find((one) => one.sessionId === sessionId);
    if (known || !OPENS_SESSION.has(method)) return known;
    // The client loads a session of another name: use the recorded one.
    const other = [...scripts.values()].find(({ entries, at }) => at === 0 && entries[0]?.msg.method === method);
    if (other) other.sessionId = sessionId;
    return other;
  }

  return {
    hear(message) {
      if (message.method === undefined) return answered(message);
      const found = find(message);
      if (!found || found.index < 0) {
        differs(`${String(message.method)} is not in the recording again`);
        if (message.id !== undefined) send(failure(message.id, `The recording has no answer to ${String(message.method)}`));
        return;
      }
      const { of, index } = found;
      const recorded = of.entries[index] as Recorded;
      if (strict && !isSame(recorded.msg.params, renameBack(of, message.params)))
        differs(`another ${String(message.method)} than was recorded`);
      const again = of.come.has(index) || index < of.at;
      of.come.set(index, message.id);
      if (again) return repeat(of, index, message.id);
      advance(of);
    },
    end: () => difference,
  };

  function repeat(of: Script, index: number, id: unknown): void {
    const { id: recordedId } = (of.entries[index] as Recorded).msg;
    const answer = of.entries.find(
      ({ dir, msg }, k) => k > index && dir === 'agent->client' && msg.method === undefined && msg.id === recordedId,
    );
    if (answer) send({ ...answer.msg, id });
  }
  function renameBack(of: Script, params: unknown): unknown {
    return of.sessionId === of.recordedId ? params : { ...(params as object), sessionId: of.recordedId };
  }
}

const failure = (id: unknown, message: string): Message => ({ jsonrpc: '2.0', id, error: { code: -32603, message } });

function isRequestOf({ dir, msg }: Recorded, of: Recorded['dir'], id: unknown): boolean {
  return dir === of && msg.method !== undefined && msg.id === id;
}

function script(entries: readonly Recorded[], sessionId: unknown = undefined): Script {
  return { entries, come: new Map(), at: 0, sessionId, recordedId: sessionId, isWaiting: false };
}

/** Splits a recording into one script per session, and one for messages without a session. */
function scriptsOf(recording: readonly Recorded[]): Map<string, Script> {
  const bySession = new Map<string, Recorded[]>([[NO_SESSION, []]]);
  /** The session of each open request, by direction and id. */
  const requests = new Map<string, string>();
  const key = (dir: Recorded['dir'], id: unknown) => `${dir} ${JSON.stringify(id)}`;
  const minted = mintedBy(recording);
  for (const [index, entry] of recording.entries()) {
    const { dir, msg } = entry;
    const opposite = dir === 'client->agent' ? 'agent->client' : 'client->agent';
    const { sessionId } = (msg.params ?? {}) as { sessionId?: unknown };
    let session = minted.get(index) ?? (typeof sessionId === 'string' ? sessionId : NO_SESSION);
    if (msg.method === undefined) session = requests.get(key(opposite, msg.id)) ?? NO_SESSION;
    else if (msg.id !== undefined) requests.set(key(dir, msg.id), session);
    bySession.set(session, [...(bySession.get(session) ?? []), entry]);
  }
  return new Map([...bySession].map(([session, entries]) => [session, script(entries, session === NO_SESSION ? undefined : session)]));
}

/** The session that each session/new or session/fork created, by index. */
function mintedBy(recording: readonly Recorded[]): Map<number, string> {
  const minted = new Map<number, string>();
  for (const [index, { dir, msg }] of recording.entries()) {
    if (dir !== 'client->agent' || (msg.method !== 'session/new' && msg.method !== 'session/fork')) continue;
    const answer = recording
      .slice(index)
      .find((later) => later.dir === 'agent->client' && later.msg.method === undefined && later.msg.id === msg.id);
    const { sessionId } = (answer?.msg.result ?? {}) as { sessionId?: unknown };
    if (typeof sessionId === 'string') minted.set(index, sessionId);
  }
  return minted;
}

/** Equal, except where the recording is redacted. */
function isSame(recorded: unknown, heard: unknown): boolean {
  if (typeof recorded === 'string' && recorded.includes('[redacted')) return typeof heard === 'string';
  if (typeof recorded !== 'object' || recorded === null || typeof heard !== 'object' || heard === null) return Object.is(recorded, heard);
  const [mine, theirs] = [recorded as Message, heard as Message];
  const keys = new Set(
    [...Object.keys(mine), ...Object.keys(theirs)].filter((name) => mine[name] !== undefined || theirs[name] !== undefined),
  );
  return Array.isArray(mine) === Array.isArray(theirs) && [...keys].every((name) => isSame(mine[name], theirs[name]));
}
