// Knows the replay of a session by its content. Some agents (gemini) answer session/load and send the history afterwards, even into the next
// turn, so the time of an update does not tell. A replay begins with a message of the user, and repeats what the transcript has, in its order.
import { fields } from '../../json-object.ts';
import { type Role, roleOf } from './frame-text.ts';
import { MOST_BYTES, readTranscript } from './transcript-files.ts';
import { type Update, updatesOf } from './transcript-updates.ts';

type Message = { readonly role: Role; readonly text: string };

export class ReplayMatcher {
  readonly #messages: readonly Message[];
  readonly #toolCallIds: ReadonlySet<unknown>;
  /** The message that comes next, and how much of it has been repeated. */
  #next = 0;
  #done = 0;
  #isOn = false;
  #isOver = false;
  readonly #clean: (text: string) => string;
  readonly #prompt: () => string | undefined;

  /** `recorded`: the session as its transcript has it, redacted by `clean`, before the turn of `prompt`. */
  constructor(recorded: readonly Update[], clean: (text: string) => string, prompt: () => string | undefined = () => undefined) {
    this.#clean = clean;
    this.#prompt = prompt;
    this.#messages = messagesIn(recorded);
    this.#toolCallIds = new Set(recorded.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId])));
  }
  /** The agent is repeating the history. */
  get isOn(): boolean {
    return this.#isOn;
  }
  /** Whether the update repeats the history. Updates must come in order. */
  isReplay(update: unknown): boolean {
    const { sessionUpdate, toolCallId, content } = fields(update);
    if (sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update') return this.#isOn && this.#toolCallIds.has(toolCallId);
    const role = roleOf(sessionUpdate);
    if (role === undefined || this.#isOver) return false;
    const { text: original } = fields(content);
    const text = typeof original === 'string' ? plain(this.#clean(original)) : '';
    // Agents add messages in the user's name, such as the results of tools. The user of this turn is not among them: the client has that.
    if (role === 'user') {
      const isKnown = this.#skipTo(role, text);
      this.#isOver = !isKnown && this.#isPrompt(text);
      this.#isOn = this.#messages.length > 0 && !this.#isOver;
      return this.#isOn;
    }
    if (!this.#isOn) return false;
    this.#isOn = this.#skipTo(role, text);
    return this.#isOn;
  }
  /** Some agents (qwen) echo the prompt before they work on it: what follows is no replay. */
  #isPrompt(text: string): boolean {
    const prompt = plain(this.#prompt());
    return prompt !== '' && text !== '' && (prompt.startsWith(text) || text.includes(prompt));
  }
  /** Moves to the end of the next place where the history has this text. */
  #skipTo(role: Role, text: string): boolean {
    for (let at = this.#next; at < this.#messages.length; at++) {
      const message = this.#messages[at] as Message;
      const from = at === this.#next ? this.#done : 0;
      if (message.role !== role || !message.text.startsWith(text, from)) continue;
      const end = from + text.length;
      const isWhole = end === message.text.length;
      this.#next = isWhole ? at + 1 : at;
      this.#done = isWhole ? 0 : end;
      return true;
    }
    return false;
  }
}

/** Without white space: agents trim what they keep. */
const plain = (text: unknown): string => (typeof text === 'string' ? text.replace(/\s+/g, '') : '');

/** Chunks of one message follow each other. */
function messagesIn(recorded: readonly Update[]): readonly Message[] {
  const messages: Message[] = [];
  let isSame = false;
  for (const { sessionUpdate, content } of recorded) {
    const role = roleOf(sessionUpdate);
    const last = messages.at(-1);
    const text = plain(fields(content).text);
    if (role !== undefined && isSame && last?.role === role) messages[messages.length - 1] = { role, text: last.text + text };
    else if (role !== undefined) messages.push({ role, text });
    isSame = role !== undefined && role !== 'user';
  }
  return messages;
}

/** `isInTurn`: without the last prompt and what follows it, which is no history yet. */
export function historyOf(dir: string, sessionId: string, isInTurn: boolean, clean: (text: string) => string): ReplayMatcher | undefined {
  const transcript = readTranscript(dir, sessionId, MOST_BYTES);
  const last = isInTurn ? (transcript?.findLastIndex(({ kind }) => kind === 'prompt') ?? -1) : -1;
  const prompt = transcript?.[last];
  const before = last === -1 ? transcript : transcript?.slice(0, last);
  return before && new ReplayMatcher(updatesOf(before), clean, () => (prompt?.kind === 'prompt' ? prompt.text : undefined));
}
