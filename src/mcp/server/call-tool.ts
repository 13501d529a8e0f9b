// One call of a lent tool: checked, decided, run in bounded time, its output bounded too. The agent always gets words it can act on.
import { passGate, type ToolGate } from './gate.ts';
import { type HostTool, type SessionHost, type ToolArgs, ToolFailure, type ToolOutcome } from './tool.ts';

/** What happened, for the audit log. `args` are the caller's own and may hold secrets. */
export type ToolEvent = {
  readonly kind: 'called' | 'denied' | 'failed' | 'refused-token';
  readonly sessionId: string | undefined;
  readonly agent: string | undefined;
  readonly server: string;
  readonly tool: string | undefined;
  readonly args: ToolArgs | undefined;
  readonly reason: string | undefined;
};

/** Says what is wrong with arguments; undefined when nothing is. */
export type ArgsCheck = (tool: HostTool, args: unknown) => string | undefined | Promise<string | undefined>;

export type CallDeps = {
  readonly gate: ToolGate;
  readonly check: ArgsCheck;
  readonly onEvent: (event: ToolEvent) => void;
  readonly maxOutputBytes: number;
  /** Takes secrets out of what agents get to read; left out, results go as they are. */
  readonly clean?: ((text: string) => string) | undefined;
};

/** `abort` is for this call alone: aborted by whoever takes it back, by the end of its session, and by the tool's time limit. */
export type Caller = { readonly abort: AbortController; readonly progress: (text: string) => void };

export async function callTool(
  tool: HostTool,
  args: ToolArgs,
  host: SessionHost,
  { abort, progress }: Caller,
  deps: CallDeps,
): Promise<ToolOutcome> {
  const about = { sessionId: host.sessionId, agent: host.agent, server: tool.server, tool: tool.ownName ?? tool.name, args };
  const { signal } = abort;
  const wrong = await deps.check(tool, args);
  if (wrong !== undefined) return failed(`The arguments of ${tool.name} are not valid: ${wrong}`);
  const request = { ...about, cwd: host.cwd, roots: host.roots, effect: tool.effect };
  // Before the time limit begins: a person who decides may take their time.
  const verdict = await passGate(() => deps.gate(request, signal), signal);
  if (!verdict.allow) {
    deps.onEvent({ ...about, kind: 'denied', reason: verdict.reason });
    return failed(`${tool.name} was not allowed: ${verdict.reason}`);
  }
  let isLate = false;
  const end = () => {
    isLate = true;
    abort.abort();
  };
  // Signals made of others are slow to make and slower to forget, and somebody waits for every call.
  const timer = tool.timeoutMs === undefined ? undefined : setTimeout(end, tool.timeoutMs).unref();
  try {
    const outcome = await until(signal, tool.run(args, { host, signal, progress, evaluatedPath: verdict.evaluatedPath }));
    deps.onEvent({ ...about, kind: 'called', reason: undefined });
    return bounded(cleaned(outcome, deps.clean), deps.maxOutputBytes);
  } catch (error) {
    const reason = isLate ? `it did not end within ${tool.timeoutMs} ms` : wordsOf(error);
    deps.onEvent({ ...about, kind: 'failed', reason });
    return failed(`${tool.name} failed: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

export const failed = (words: string): ToolOutcome => ({ content: [{ type: 'text', text: words }], isError: true });

/** What went wrong is told; a bug of ours is told as one, since its words were not written for an agent. */
function wordsOf(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  if (error instanceof Error && error.name === 'AbortError') return 'it was cancelled';
  return `an unexpected error (${error instanceof Error ? error.message : String(error)})`;
}

/** A tool that does not heed its signal is not waited for. */
function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelled = () => reject(new DOMException('cancelled', 'AbortError'));
    if (signal.aborted) return cancelled();
    signal.addEventListener('abort', cancelled, { once: true });
    const over = () => signal.removeEventListener('abort', cancelled);
    work.then(
      (value) => {
        over();
        resolve(value);
      },
      (error: unknown) => {
        over();
        reject(error);
      },
    );
  });
}

/** Images and the like, which a search for secrets would only spoil. */
const BINARY = new Set(['data', 'blob']);

function cleaned(outcome: ToolOutcome, clean: CallDeps['clean']): ToolOutcome {
  if (!clean) return outcome;
  const deep = <T>(value: T): T => {
    if (typeof value === 'string') return clean(value) as T;
    if (Array.isArray(value)) return value.map(deep) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, BINARY.has(key) ? inner : deep(inner)])) as T;
  };
  return deep(outcome);
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));

/** Agents put all of it into their context; what is too long is cut, and says so. */
function bounded(outcome: ToolOutcome, maxBytes: number): ToolOutcome {
  let left = maxBytes;
  let isCut = false;
  const content = outcome.content.flatMap((block): ToolOutcome['content'] => {
    const bytes = Buffer.byteLength(block.type === 'text' ? block.text : JSON.stringify(block));
    if (bytes <= left) {
      left -= bytes;
      return [block];
    }
    isCut = true;
    if (block.type !== 'text') return [];
    const kept = Buffer.from(block.text)
      .subarray(0, left)
      .toString('utf8')
      .replace(/\uFFFD$/, '');
    left = 0;
    return [{ ...block, text: kept }];
  });
  const { content: _, structuredContent, ...others } = outcome;
  const isTooMuchBeside = sizeOf(structuredContent) + sizeOf(others) > maxBytes;
  if (!isCut && !isTooMuchBeside) return outcome;
  const rest = isTooMuchBeside ? { isError: outcome.isError === true } : others;
  return { ...rest, content: [...content, { type: 'text', text: `[cut: a tool's output may have ${maxBytes} bytes]` }] };
}
