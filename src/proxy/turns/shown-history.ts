// The messages and tool calls of a session that this process has passed on, in memory. It stands in for the transcript where transcripts are
// off and a lost session comes back only by session/load: what the agent replays then is known by its content.
import { fields } from '../../json-object.ts';
import { reopenMethods } from '../../router/capabilities.ts';
import { roleOf } from '../../store/transcripts/frame-text.ts';
import { ReplayMatcher } from '../../store/transcripts/replay-matcher.ts';
import type { Update } from '../../store/transcripts/transcript-updates.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

/** Of one session; the oldest messages give way. */
const MAX_CHARACTERS = 1 << 20;

type Shown = { readonly sessionUpdate: string; readonly toolCallId: unknown; text: string };

export class ShownHistory {
  readonly #shown: Shown[] = [];
  readonly #toolCallIds = new Set<unknown>();
  #characters = 0;
  #prompt: string | undefined;

  prompt(frame: Frame): void {
    const { prompt } = bodyOf(frame);
    if (!Array.isArray(prompt)) return;
    const texts = prompt.map((block) => fields(block).text).filter((text) => typeof text === 'string');
    this.#prompt = texts.join('');
    this.#add({ sessionUpdate: 'user_message_chunk', toolCallId: undefined, text: this.#prompt });
  }
  update(frame: Frame): void {
    const { sessionUpdate, toolCallId, content } = fields(bodyOf(frame).update);
    if (toolCallId !== undefined) return this.#addToolCall(toolCallId);
    const { text } = fields(content);
    if (typeof sessionUpdate !== 'string' || roleOf(sessionUpdate) === undefined || typeof text !== 'string') return;
    const last = this.#shown.at(-1);
    if (last?.sessionUpdate !== sessionUpdate || roleOf(sessionUpdate) === 'user') return this.#add({ sessionUpdate, toolCallId, text });
    last.text += text;
    this.#grow(text.length);
  }
  matcher(): ReplayMatcher {
    const recorded = this.#shown.map(({ sessionUpdate, toolCallId, text }): Update => {
      return toolCallId === undefined ? { sessionUpdate, content: { type: 'text', text } } : { sessionUpdate, toolCallId };
    });
    return new ReplayMatcher(
      recorded,
      (text) => text,
      () => this.#prompt,
    );
  }
  #addToolCall(toolCallId: unknown): void {
    if (this.#toolCallIds.has(toolCallId)) return;
    this.#toolCallIds.add(toolCallId);
    this.#add({ sessionUpdate: 'tool_call', toolCallId, text: String(toolCallId) });
  }
  #add(shown: Shown): void {
    this.#shown.push(shown);
    this.#grow(shown.text.length);
  }
  #grow(characters: number): void {
    this.#characters += characters;
    while (this.#characters > MAX_CHARACTERS && this.#shown.length > 1) {
      const oldest = this.#shown.shift() as Shown;
      this.#toolCallIds.delete(oldest.toolCallId);
      this.#characters -= oldest.text.length;
    }
  }
}

function bodyOf(frame: Frame): Readonly<Record<string, unknown>> {
  const body = readBody(frame);
  return body.ok ? fields(body.value) : {};
}

/** Whether the replay of a session at this agent could not be known otherwise. Costs a parse for each of its updates. */
const isNeeded = ({ context }: Parts<'context'>, { handshake }: Agent): boolean =>
  context.transcripts === undefined && reopenMethods(handshake?.result, 'session/resume')[0] === 'session/load';

/** The session is empty: it is new, or its agent is about to send all of it. */
export function restartShown(proxy: Parts<'context'>, session: Session): void {
  session.shown = isNeeded(proxy, session.agent) ? new ShownHistory() : undefined;
}
