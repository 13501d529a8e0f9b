// What the session ids of one agent stand for: sessions in use, and sessions that are not open yet, have ended, are refused or parked. Nearly
// every frame names one; recent ones are found without a table lookup.
import type { ProxyError } from '../../errors.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { type Interned, InternedMap } from '../../wire/scanner/interned.ts';
import { sessionIdOf } from '../../wire/scanner/large-frame.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import type { ToolServers } from '../tools/tool-servers.ts';
import type { Session } from './session.ts';
import type { Open } from './session-state.ts';

/** What it takes to continue a session that the client has closed and its agent still has. */
export type Parked = Pick<Session, 'options'> &
  Pick<ToolServers, 'attachment' | 'bridged'> & {
    readonly open: Open;
    /** The agent connection that has it. */
    readonly connection: AgentConnection | undefined;
  };

/** The limit of held frames. Beyond it frames pass: holding the rest would also hold the answer that they wait for. */
const MAX_EARLY_BYTES = 16 * 1024 * 1024;
const MAX_ENDED = 10_000;
const MAX_PARKED = 1000;

export class NativeSessions extends Map<string, Session> {
  readonly #named = new InternedMap<Session>();
  #openings = 0;
  readonly #early = new Map<string, Frame[]>();
  #earlyBytes = 0;
  /** By id, the generation of the agent in which the client left the session. */
  readonly #ended = new Map<string, number>();
  readonly #refused = new Map<string, ProxyError>();
  readonly #parked = new Map<string, Parked>();

  /** The session that a frame names. */
  forFrame(frame: Frame): Session | undefined {
    const known = frame.session && this.#named.get(frame.session);
    return known ?? this.#find(frame);
  }

  /** The session of an interned id; undefined also if no frame has named it yet. */
  forInternedId(id: Interned): Session | undefined {
    return this.#named.get(id);
  }

  #find(frame: Frame): Session | undefined {
    const nativeId = sessionIdOf(frame);
    const session = nativeId === undefined ? undefined : this.get(nativeId);
    if (session && frame.session) this.#named.set(frame.session, session);
    return session;
  }

  override set(nativeId: string, session: Session): this {
    if (this.has(nativeId)) this.#named.clear();
    return super.set(nativeId, session);
  }

  override delete(nativeId: string): boolean {
    this.#named.clear();
    return super.delete(nativeId);
  }

  override clear(): void {
    this.#named.clear();
    super.clear();
  }

  /** Requests are under way whose answers open sessions. */
  get isOpening(): boolean {
    return this.#openings > 0;
  }
  openingBegins(): void {
    this.#openings++;
  }
  openingEnds(): void {
    this.#openings--;
  }

  /** Keeps a frame of a session that the client does not know yet; false when too much is kept. */
  holdEarly(nativeId: string, frame: Frame): boolean {
    if (this.#earlyBytes > MAX_EARLY_BYTES) return false;
    const held = this.#early.get(nativeId) ?? [];
    held.push(detach(frame));
    this.#earlyBytes += frame.end - frame.start;
    this.#early.set(nativeId, held);
    return true;
  }
  get hasEarly(): boolean {
    return this.#early.size > 0;
  }
  earlyIds(): readonly string[] {
    return [...this.#early.keys()];
  }
  takeEarly(nativeId: string): readonly Frame[] {
    const held = this.#early.get(nativeId) ?? [];
    this.#early.delete(nativeId);
    for (const { start, end } of held) this.#earlyBytes -= end - start;
    return held;
  }

  /** The client has left the session: frames of that id are for nobody until the agent has answered that it is open again. */
  markEnded(nativeId: string, generation: number): void {
    const [oldest] = this.#ended.size < MAX_ENDED ? [] : this.#ended.keys();
    if (oldest !== undefined) this.#ended.delete(oldest);
    this.#ended.set(nativeId, generation);
  }
  reopened(nativeId: string): void {
    this.#ended.delete(nativeId);
  }
  /**
   * An agent may reuse session ids after each start: an id that ended in an earlier generation may be the session it is opening now. One that
   * ended in this generation stays ended until the agent has opened it again.
   */
  hasEnded(nativeId: string, generation: number): boolean {
    const endedIn = this.#ended.get(nativeId);
    return endedIn !== undefined && (!this.isOpening || endedIn === generation);
  }

  /** The policy refuses the session's mode: no frame passes until the session is opened again in another mode. */
  refuse(nativeId: string, error: ProxyError): void {
    this.#refused.set(nativeId, error);
  }
  /** It is open in a mode that the policy allows, or gone. */
  admit(nativeId: string): void {
    this.#refused.delete(nativeId);
  }
  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }
  whyRefused(nativeId: string): ProxyError | undefined {
    return this.#refused.get(nativeId);
  }

  /** Keeps a session that the client has closed and that the agent, which cannot close sessions, still has. */
  park(nativeId: string, parked: Parked): void {
    this.forgetParked(nativeId);
    this.#parked.set(nativeId, parked);
    const [oldest] = this.#parked.size > MAX_PARKED ? this.#parked.keys() : [];
    if (oldest !== undefined) this.forgetParked(oldest);
  }
  /** Undefined when this connection of the agent does not have the session. */
  unpark(nativeId: string, connection: AgentConnection | undefined): Parked | undefined {
    const kept = this.#parked.get(nativeId);
    if (kept?.connection !== connection) this.forgetParked(nativeId);
    return this.#parked.delete(nativeId) ? kept : undefined;
  }
  /** The agent has another session of that id, or none. */
  forgetParked(nativeId: string): void {
    const kept = this.#parked.get(nativeId);
    this.#parked.delete(nativeId);
    kept?.attachment?.revoke();
    kept?.bridged?.revoke();
  }

  /** The next process has none of the parked sessions and starts in its own mode. */
  processEnded(): void {
    for (const nativeId of [...this.#parked.keys()]) this.forgetParked(nativeId);
    this.#refused.clear();
  }
}
