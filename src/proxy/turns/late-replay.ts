// The history of a session that its agent sends after it has answered session/load. It is looked for until the first prompt is answered.
import { fields } from '../../json-object.ts';
import { roleOf } from '../../store/transcripts/frame-text.ts';
import type { ReplayMatcher } from '../../store/transcripts/replay-matcher.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import type { ShownHistory } from './shown-history.ts';

/** A replay begins with a message of the user, which agents send at no other time. */
const BEGINNING = Buffer.from('"user_message_chunk"');

export class LateReplay {
  /** No client asked to see the history: the session was recovered, or resumed by a load. */
  readonly isWithheld: boolean;
  readonly #read: () => ReplayMatcher | undefined;
  /** Undefined before the first message of the user; false if the history is not known. */
  #matcher: ReplayMatcher | false | undefined = undefined;

  constructor(isWithheld: boolean, read: () => ReplayMatcher | undefined) {
    this.isWithheld = isWithheld;
    this.#read = read;
  }
  get isHistoryKnown(): boolean {
    return this.#matcher !== undefined && this.#matcher !== false;
  }
  /** Whether the update repeats the history. */
  isReplay(frame: Frame, isInTurn: boolean): boolean {
    const isOn = this.#matcher === false ? !isInTurn : this.#matcher?.isOn === true;
    if (!isOn && !frame.bytes.subarray(frame.start, frame.end).includes(BEGINNING)) return false;
    this.#matcher ??= this.#read() ?? false;
    const body = readBody(frame);
    const update = body.ok ? fields(fields(body.value).update) : {};
    if (this.#matcher) return this.#matcher.isReplay(update);
    // Before the first prompt, an agent has nothing else to tell.
    return !isInTurn && (update.toolCallId !== undefined || roleOf(update.sessionUpdate) !== undefined);
  }
}

/** The agent has answered a session/load. `shown`: what the client had seen before it, if that is in memory. */
export function expectLateReplay(
  { context }: Parts<'context'>,
  session: Session,
  isWithheld: boolean,
  shown: ShownHistory | undefined,
): void {
  const inMemory = shown?.matcher();
  // What this turn has added to the transcript is no history yet.
  const read = () => inMemory ?? context.transcripts?.history(session.publicId, session.turns.size > 0);
  session.lateReplay = new LateReplay(isWithheld, read);
}
