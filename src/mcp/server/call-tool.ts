// One call of a host tool: validated, decided, run with a time limit and an output limit. The agent always gets a message it can act on.
import { type GateVerdict, passGate, type ToolGate, type ToolRequest } from './gate.ts';
import {
  type HostTool,
  type McpCaller,
  type RunOutcome,
  ServerError,
  type SessionHost,
  type ToolArgs,
  ToolFailure,
  type ToolOutcome,
} from './tool.ts';

/** What happened, for the audit log. `args` are the caller's own and may contain secrets. */
export type ToolEvent = {
  readonly kind: 'called' | 'denied' | 'failed' | 'refused-token';
  readonly sessionId: string | undefined;
  readonly agent: string | undefined;
  readonly server: string;
  readonly tool: string | undefined;
  readonly args: ToolArgs | undefined;
  readonly reason: string | undefined;
};

/** Returns the problem with the arguments, if any. */
export type ArgsCheck = (tool: HostTool, args: unknown) => string | undefined | Promise<string | undefined>;

/** A call that is measured. */
export type MeasuredCall = {
  /** For an MCP server behind the tool. */
  readonly traceparent: string | undefined;
  end(outcome: 'called' | 'denied' | 'failed'): void;
};

export type CallDeps = {
  readonly gate: ToolGate;
  readonly check: ArgsCheck;
  readonly onEvent: (event: ToolEvent) => void;
  /** Begins to measure a call; undefined while nobody measures. */
  readonly measure?: ((call: Pick<ToolRequest, 'sessionId' | 'agent' | 'server' | 'tool'>) => MeasuredCall | undefined) | undefined;
  readonly maxOutputBytes: number;
  /** Removes secrets from results; without it, results pass unchanged. */
  readonly clean?: ((text: string) => string) | undefined;
};

/** `abort` belongs to this call: aborted by its cancellation, by the end of its session, and by the tool's time limit. */
export type Caller = {
  readonly abort: AbortController;
  readonly progress: (text: string) => void;
  /** Undefined for a client that cannot be asked and wants no log messages. */
  readonly mcp?: McpCaller | undefined;
};

/** `isDecided`: the call was allowed before, and goes on with the input that it needed. Rejects only with a `ServerError`. */
export async function callTool(
  tool: HostTool,
  args: ToolArgs,
  host: SessionHost,
  { abort, progress, mcp }: Caller,
  deps: CallDeps,
  isDecided = false,
): Promise<RunOutcome> {
  const about = { sessionId: host.sessionId, agent: host.agent, server: tool.server, tool: tool.ownName ?? tool.name, args };
  const { signal } = abort;
  const wrong = await deps.check(tool, args);
  const measured = deps.measure?.(about);
  if (wrong !== undefined) measured?.end('failed');
  if (wrong !== undefined) return failed(`The arguments of ${tool.name} are not valid: ${wrong}`);
  const request = { ...about, cwd: host.cwd, roots: host.roots, effect: tool.effect };
  // Before the time limit starts: a user's decision may take any time.
  const decided = isDecided ? ({ allow: true } as const) : await passGate(() => deps.gate(request, signal), signal);
  // The agent may have died between the decision and this line, for example of the answer to its previous call.
  const verdict: GateVerdict = signal.aborted ? { allow: false, reason: 'the call was cancelled' } : decided;
  if (!verdict.allow) {
    deps.onEvent({ ...about, kind: 'denied', reason: verdict.reason });
    measured?.end('denied');
    return failed(`${tool.name} was not allowed: ${verdict.reason}`);
  }
  let isLate = false;
  const end = () => {
    isLate = true;
    abort.abort();
  };
  // Combined signals are slow to create and slower to release, and every call would wait for that.
  const timer = tool.timeoutMs === undefined ? undefined : setTimeout(end, tool.timeoutMs).unref();
  try {
    const outcome = await until(
      signal,
      tool.run(args, { host, signal, progress, evaluatedPath: verdict.evaluatedPath, mcp, traceparent: measured?.traceparent }),
    );
    measured?.end('called');
    if (needsInput(outcome)) return cleaned(outcome, deps.clean);
    deps.onEvent({ ...about, kind: 'called', reason: undefined });
    return bounded(cleaned(outcome, deps.clean), deps.maxOutputBytes);
  } catch (error) {
    const reason = isLate ? `it did not finish within ${tool.timeoutMs} ms` : reasonOf(error);
    deps.onEvent({ ...about, kind: 'failed', reason });
    measured?.end('failed');
    if (error instanceof ServerError) {
      const { code, data } = error;
      throw new ServerError(deps.clean?.(reason) ?? reason, { code, data: cleaned(data, deps.clean), cause: error });
    }
    return failed(`${tool.name} failed: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

/** The call is not over. */
export const needsInput = (outcome: RunOutcome): outcome is Exclude<RunOutcome, ToolOutcome> => outcome.resultType === 'input_required';

export const failed = (message: string): ToolOutcome => ({ content: [{ type: 'text', text: message }], isError: true });

/** The reason for the agent. The message of a bug was not written for an agent, so it is marked as unexpected. */
function reasonOf(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  if (error instanceof Error && error.name === 'AbortError') return 'it was cancelled';
  return `an unexpected error (${error instanceof Error ? error.message : String(error)})`;
}

/** Does not wait for a tool that ignores its signal. */
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

/** Binary content and a server's own state, which redaction would only corrupt. */
const OPAQUE = new Set(['data', 'blob', 'requestState']);

function cleaned<T>(outcome: T, clean: CallDeps['clean']): T {
  if (!clean) return outcome;
  const deep = <T>(value: T): T => {
    if (typeof value === 'string') return clean(value) as T;
    if (Array.isArray(value)) return value.map(deep) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, OPAQUE.has(key) ? inner : deep(inner)])) as T;
  };
  return deep(outcome);
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));

/** Agents put all of it into their context, so output that is too long is cut and marked. */
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
    const beginning = Buffer.from(block.text)
      .subarray(0, left)
      .toString('utf8')
      .replace(/\uFFFD$/, '');
    left = 0;
    return [{ ...block, text: beginning }];
  });
  const { content: _, structuredContent, ...others } = outcome;
  const isRestTooLarge = sizeOf(structuredContent) + sizeOf(others) > maxBytes;
  if (!isCut && !isRestTooLarge) return outcome;
  const rest = isRestTooLarge ? { isError: outcome.isError === true } : others;
  return { ...rest, content: [...content, { type: 'text', text: `[cut: a tool's output may have ${maxBytes} bytes]` }] };
}
