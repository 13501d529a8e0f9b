// The sessions of one agent by its own ids. Nearly every frame names one; recent ones are found without a table lookup.

import type { Frame } from '../../wire/frame.ts';
import { InternedMap } from '../../wire/scanner/interned.ts';
import { sessionIdOf } from '../../wire/scanner/large-frame.ts';
import type { Session } from './session.ts';

export class NativeSessions extends Map<string, Session> {
  readonly #named = new InternedMap<Session>();

  /** The session that a frame names. */
  of(frame: Frame): Session | undefined {
    const known = frame.session && this.#named.get(frame.session);
    return known ?? this.#find(frame);
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
}
