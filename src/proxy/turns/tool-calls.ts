// The tool calls and terminals that an agent has open in a session. When the agent exits, the proxy ends them, so that none runs forever in the client.
import type { Frame } from '../../wire/frame.ts';
import { stringIn } from '../../wire/scanner/large-frame.ts';
import { updateLine } from '../messages.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

const MAX_TRACKED = 1000;

export class ToolCalls implements Iterable<string> {
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }
  /** Reads a `tool_call` or `tool_call_update`; some agents send the second without the first. */
  read(frame: Frame): void {
    const toolCallId = stringIn(frame, 'update', 'toolCallId');
    if (toolCallId === undefined) return;
    const status = stringIn(frame, 'update', 'status');
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
export function failToolCalls(proxy: Parts<'client'>, session: Session): void {
  for (const toolCallId of session.toolCalls)
    proxy.client.line(updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' })));
  session.toolCalls.clear();
}

/** The agent's process has ended: its tool calls fail, and its terminals are released. */
export function endOpenWork(proxy: ProxyParts, session: Session): void {
  failToolCalls(proxy, session);
  releaseTerminals(proxy, session);
  proxy.context.workspace?.endOf(session);
}

export function releaseTerminals({ registry, requests }: Parts<'registry' | 'requests'>, session: Session): void {
  const { publicId: sessionId } = session;
  for (const terminalId of registry.takeTerminals(session)) requests.send('terminal/release', JSON.stringify({ sessionId, terminalId }));
}
