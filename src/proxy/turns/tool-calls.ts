// The tool calls and terminals that an agent has open in a session. When the agent exits, the proxy ends them, so that none runs forever in the client.
import type { Frame } from '../../wire/frame.ts';
import { stringIn } from '../../wire/scanner/large-frame.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

const MAX_TRACKED = 1000;

export type DescribedCall = { kind: string; readonly paths: Set<string>; isReported: boolean };

export class ToolCalls implements Iterable<string> {
  readonly #ids = new Set<string>();
  #described: Map<string, DescribedCall> | undefined;

  /** What a contained agent has said of a call so far: several updates describe one call. */
  described(toolCallId: string): DescribedCall {
    this.#described ??= new Map();
    if (this.#described.size >= MAX_TRACKED) this.#described.clear();
    const call = this.#described.get(toolCallId) ?? { kind: '', paths: new Set(), isReported: false };
    this.#described.set(toolCallId, call);
    return call;
  }

  has(toolCallId: string): boolean {
    return this.#ids.has(toolCallId);
  }
  get size(): number {
    return this.#ids.size;
  }
  /** Reads a `tool_call` or `tool_call_update`; some agents send the second without the first. */
  read(frame: Frame, kind: 'tool_call' | 'tool_call_update'): void {
    const toolCallId = stringIn(frame, 'update', 'toolCallId');
    if (toolCallId === undefined) return;
    const status = stringIn(frame, 'update', 'status');
    // An update names only what changes: without a status, a completed call stays completed.
    if (status === undefined && kind === 'tool_call_update') return;
    if (status === 'completed' || status === 'failed') this.#ids.delete(toolCallId);
    else if (this.#ids.size < MAX_TRACKED) this.#ids.add(toolCallId);
  }
  clear(): void {
    this.#ids.clear();
  }
  [Symbol.iterator](): Iterator<string> {
    return this.#ids.values();
  }
}

/** Reports them to the client as failed: their agent no longer can. */
export function failToolCalls(proxy: Parts<'client'>, session: Session, more: object = {}): void {
  for (const toolCallId of session.toolCalls)
    proxy.client.line(
      updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed', ...more })),
    );
  session.toolCalls.clear();
}

/** ACP v1 has no status for a cancelled call, so the content says it. */
const CANCELLED_CALL = {
  content: [{ type: 'content', content: { type: 'text', text: 'Cancelled: the turn was cancelled before this tool call ended.' } }],
};

/** The agent has ended a cancelled turn, or does not end it, and has left these calls open. */
export function cancelToolCalls(proxy: Parts<'client'>, session: Session): void {
  if (session.toolCalls.size > 0) failToolCalls(proxy, session, CANCELLED_CALL);
}

/** The agent's process has ended: its tool calls fail, and its terminals are released. */
export function endOpenWork(proxy: Parts<'context' | 'registry' | 'client' | 'requests'>, session: Session): void {
  failToolCalls(proxy, session);
  releaseTerminals(proxy, session);
  proxy.context.workspace?.endOf(session);
}

export function releaseTerminals({ registry, requests }: Parts<'registry' | 'requests'>, session: Session): void {
  const { publicId: sessionId } = session;
  for (const terminalId of registry.takeTerminals(session)) requests.send('terminal/release', JSON.stringify({ sessionId, terminalId }));
}
