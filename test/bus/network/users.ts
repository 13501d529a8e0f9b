// An editor with several users on one edge, which checks what it is promised: each request is answered once and in time, by a result or by an
// error that names what is away; every word of a turn comes in its place; and nothing comes after the turn's end.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

type Answer = { readonly result?: { readonly sessionId?: string; readonly stopReason?: string }; readonly error?: Refused };
type Refused = { readonly message: string; readonly data?: { readonly reason?: string } };
type Params = {
  readonly sessionId?: string;
  readonly update?: { readonly content?: { readonly text?: string } };
  readonly toolCall?: { readonly toolCallId: string };
};
type Turn = { readonly sessionId: string; next: number; isOver: boolean };
type Asked = { readonly id: unknown; readonly tag: string };

export type Users = {
  readonly problems: readonly string[];
  /** Tags of prompts: those that ended well, and those that failed. */
  readonly ended: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, string>;
  readonly turns: number;
  /** Longest time to an answer, beyond the time that its turn takes. */
  readonly longestMs: number;
  initialize(): Promise<void>;
  open(): Promise<string>;
  /** Resolves with the answer's error, if it is one. */
  prompt(sessionId: string, words: Words): Promise<Refused | undefined>;
  /** Opens a session and prompts it, again and again; goes on in the same session after a failure. */
  work(until: () => boolean, words: () => Words): Promise<void>;
  /** Resolves when a permission request for this prompt is here, with what answers it. */
  asked(tag: string): Promise<() => void>;
  /** Resolves when `count` words of the prompt are here. */
  heard(tag: string, count: number): Promise<void>;
  nextTag(): string;
};

export type Words = { readonly tag?: string; readonly count: number; readonly everyMs: number; readonly asks?: boolean };

/** What an error may say: it names a host, or the bus, or why no host takes the session. */
const NAMED = /host "[\w-]+"|no host|\bbus\b|every host/;
const RETRY_MS = 300;

export function createUsers(edge: ChildProcess, { cwd, withinMs }: { readonly cwd: string; readonly withinMs: number }): Users {
  const problems: string[] = [];
  const problem = (text: string) => void (problems.length < 40 && problems.push(text));
  const open = new Map<number, (answer: Answer) => void>();
  const turns = new Map<string, Turn>();
  const ended = new Set<string>();
  const failed = new Map<string, string>();
  const requests: Asked[] = [];
  const waiting = new Set<() => void>();
  let lastId = 0;
  let lastTag = 0;
  let longestMs = 0;
  let rest = '';
  let stderr = '';

  const send = (message: object) => void edge.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  edge.stdin?.on('error', () => {});
  edge.stderr?.on('data', (bytes) => {
    stderr = `${stderr}${bytes}`.slice(-4000);
    if (/^\s+at |TypeError/m.test(String(bytes))) problem(`the edge wrote: ${String(bytes).slice(0, 500)}`);
  });
  edge.once('exit', (code, signal) => {
    if (open.size > 0) problem(`the edge ended with ${signal ?? code}: ${stderr}`);
    for (const answer of [...open.values()]) answer({ error: { message: 'the bus edge is gone' } });
  });
  edge.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) receive(JSON.parse(line));
    for (const look of [...waiting]) look();
  });

  function receive({ id, method, params, ...answer }: { id?: number; method?: string; params?: Params } & Answer): void {
    if (method === 'session/update') return update(params ?? {});
    if (method === 'session/request_permission') return void requests.push({ id, tag: params?.toolCall?.toolCallId ?? '' });
    if (method !== undefined) return;
    const settle = open.get(id as number);
    if (settle) settle(answer);
    else problem(`a second answer, or one to nothing: id ${id}`);
  }
  function update({ sessionId, update: { content } = {} }: Params): void {
    const [, tag = '', n] = /^(\w+):(\d+) $/.exec(content?.text ?? '') ?? [];
    const turn = turns.get(tag);
    if (!turn) return;
    if (turn.sessionId !== sessionId) problem(`${tag} belongs to ${turn.sessionId} and came in ${sessionId}`);
    if (turn.isOver) problem(`${tag}:${n} came after the answer to its prompt`);
    else if (turn.next !== Number(n)) problem(`${tag}: ${turn.next} was expected, ${n} came`);
    turn.next = Number(n) + 1;
  }
  function request(method: string, params: object, usualMs = 0): Promise<Answer> {
    const id = ++lastId;
    const began = performance.now();
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => problem(`${method} ${JSON.stringify(params).slice(0, 120)} had no answer in time`),
        usualMs + withinMs,
      );
      open.set(id, (answer) => {
        clearTimeout(timer);
        open.delete(id);
        longestMs = Math.max(longestMs, performance.now() - began - usualMs);
        const { error } = answer;
        if (error && !NAMED.test(error.message)) problem(`${method} failed without a name: ${JSON.stringify(error)}`);
        resolve(answer);
      });
      send({ id, method, params });
    });
  }
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (!isSo()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });

  const self: Users = {
    problems,
    ended,
    failed,
    get turns() {
      return turns.size;
    },
    get longestMs() {
      return longestMs;
    },
    nextTag: () => `t${++lastTag}`,
    async initialize() {
      const { error } = await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
      if (error) throw new Error(error.message);
    },
    async open() {
      for (;;) {
        const { result, error } = await request('session/new', { cwd, mcpServers: [] });
        if (result?.sessionId !== undefined) return result.sessionId;
        if (edge.exitCode !== null || edge.signalCode !== null) throw new Error(error?.message);
        await delay(RETRY_MS);
      }
    },
    async prompt(sessionId, { tag = self.nextTag(), count, everyMs, asks = false }) {
      const turn: Turn = { sessionId, next: 0, isOver: false };
      turns.set(tag, turn);
      const text = `${tag} ${count} ${everyMs}${asks ? ' ask' : ''}`;
      const { result, error } = await request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }, count * everyMs);
      turn.isOver = true;
      if (error) failed.set(tag, error.message);
      else ended.add(tag);
      if (result && (result.stopReason !== 'end_turn' || turn.next !== count))
        problem(`${tag} ended with ${result.stopReason} after ${turn.next} of ${count} words`);
      return error;
    },
    async work(isOver, words) {
      let sessionId: string | undefined;
      while (!isOver()) {
        sessionId ??= await self.open();
        const error = await self.prompt(sessionId, words());
        if (!error) continue;
        if (error.data?.reason === 'session_lost') sessionId = undefined;
        await delay(RETRY_MS);
      }
    },
    async asked(tag) {
      const found = () => requests.find((one) => one.tag === tag);
      await until(() => found() !== undefined);
      return () => send({ id: found()?.id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } });
    },
    heard: (tag, count) => until(() => (turns.get(tag)?.next ?? 0) >= count),
  };
  return self;
}

/** What the agents' notes say against what the client was told. */
export function ranTwice(users: Users, runs: ReadonlyMap<string, number>): readonly string[] {
  const wrong = [...runs].filter(([, count]) => count > 1).map(([tag, count]) => `${tag} ran ${count} times`);
  const never = [...users.ended].filter((tag) => !runs.has(tag)).map((tag) => `${tag} ended and never ran`);
  return [...wrong, ...never];
}
