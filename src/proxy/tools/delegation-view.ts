// Shows the work of a delegated agent to the user and to the delegating agent: in the tool call that started it.
import { randomUUID } from 'node:crypto';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

export type DelegationView = {
  /** A session/update of the delegated agent. */
  onUpdate(frame: Frame): void;
  end(isDone: boolean): void;
  /** The agent's messages. */
  text(): string;
};

/** Chunks arrive by the dozen, and each update repeats the text so far. */
const SHOW_EVERY_MS = 250;
const MAX_TEXT = 1024 * 1024;
const MAX_SHOWN = 16 * 1024;
const MAX_TITLE = 120;

export function createDelegationView(
  proxy: Parts<'context' | 'client'>,
  parent: Session,
  { title }: Agent,
  prompt: string,
  onProgress: (text: string) => void,
): DelegationView {
  const sessionId = parent.publicId;
  // If the agent reports its tool calls, the one under way is this one.
  const [reported, another] = parent.toolCalls;
  const toolCallId = reported !== undefined && another === undefined ? reported : `switchboard-${randomUUID()}`;
  const isOurs = toolCallId !== reported;
  let words = '';
  let shown = '';
  let abandon: (() => void) | undefined;
  const sendToolCall = (update: object) => proxy.client.line(updateLine(sessionId, JSON.stringify({ ...update, toolCallId })));
  const content = () => [{ type: 'content', content: { type: 'text', text: shown.slice(-MAX_SHOWN) } }];
  const show = () => {
    abandon = undefined;
    sendToolCall({ sessionUpdate: 'tool_call_update', status: 'in_progress', content: content() });
  };
  const add = (piece: string) => {
    shown = (shown + piece).slice(-2 * MAX_SHOWN);
    abandon ??= proxy.context.clock.after(SHOW_EVERY_MS, show);
    onProgress(piece);
  };
  if (isOurs) {
    const asked = prompt.length > MAX_TITLE ? `${prompt.slice(0, MAX_TITLE)}…` : prompt;
    sendToolCall({
      sessionUpdate: 'tool_call',
      title: `${title}: ${asked}`,
      kind: 'other',
      status: 'in_progress',
      rawInput: { prompt },
    });
  }
  return {
    onUpdate(frame) {
      const body = readBody(frame);
      const { update } = ((body.ok ? body.value : undefined) ?? {}) as { update?: Update };
      if (update?.sessionUpdate === 'agent_message_chunk' && update.content?.type === 'text') {
        const piece = String(update.content.text);
        words = (words + piece).slice(0, MAX_TEXT);
        add(piece);
      }
      if (update?.sessionUpdate === 'tool_call') add(`\n[${title}: ${String(update.title)}]\n`);
    },
    end(isDone) {
      const isWaiting = abandon !== undefined;
      abandon?.();
      abandon = undefined;
      if (isOurs) sendToolCall({ sessionUpdate: 'tool_call_update', status: isDone ? 'completed' : 'failed', content: content() });
      else if (isWaiting) show();
    },
    text: () => words,
  };
}

type Update = {
  readonly sessionUpdate?: unknown;
  readonly content?: { readonly type?: unknown; readonly text?: unknown };
  readonly title?: unknown;
};

/** Patches a permission request of a delegated session: the user sees whose it is, and its tool call ids cannot clash with the parent's. */
export function delegationPatches({ delegation, agent }: Session, { bytes, body, method }: Frame): Patch[] {
  if (!delegation || method !== 'session/request_permission') return [];
  const call = memberAt(bytes, body, 'toolCall');
  return (['toolCallId', 'title'] as const).flatMap((key) => {
    const span = memberAt(bytes, call, key);
    const words = stringAt(bytes, span);
    return span && words !== undefined
      ? [{ span, text: JSON.stringify(key === 'title' ? `${agent.title}: ${words}` : `${delegation.id}/${words}`) }]
      : [];
  });
}
