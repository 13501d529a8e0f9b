// Sessions of other clients of the daemon. The console joins one while a page shows it, as any client may: by loading it.
import type { Fields } from '../state/read-update.ts';
import type { StateKeeper } from '../state/state.ts';
import type { openSessions } from './open-sessions.ts';
import type { Prompts } from './prompts.ts';
import type { Host } from './workspace.ts';

export type OtherClients = {
  /** The console's own number among the clients. */
  readonly number: number;
  /** Whether a client, or the daemon for the next one, has the session open. */
  isLive(sessionId: string): boolean;
  leave(sessionId: string): void;
};

type Deps = {
  readonly state: StateKeeper;
  readonly host: Host;
  readonly others: OtherClients | undefined;
  readonly sessions: Pick<ReturnType<typeof openSessions>, 'takeUp'>;
  readonly prompts: Pick<Prompts, 'begun'>;
  readonly answeredElsewhere: (id: string) => void;
};

export function joinSessions({ state, host, others, sessions, prompts, answeredElsewhere }: Deps) {
  const joined = new Set<string>();
  /** They are not tried again unless a page asks for it. */
  const failed = new Set<string>();
  const joining = new Map<string, Promise<void>>();

  function left(sessionId: string): void {
    joined.delete(sessionId);
    host.endOf(sessionId);
    state.closed(sessionId);
  }
  return {
    isLive: (sessionId: string): boolean => others?.isLive(sessionId) === true,
    /** Whether it is live and could be joined. */
    canJoin: (sessionId: string): boolean => others?.isLive(sessionId) === true && !state.isLive(sessionId) && !failed.has(sessionId),
    /** Joins a session that is live. */
    join(sessionId: string): Promise<void> {
      const under = joining.get(sessionId);
      if (under) return under;
      state.refresh(); // it may be new
      failed.add(sessionId);
      const opening = sessions.takeUp(sessionId).then(() => {
        joined.add(sessionId);
        failed.delete(sessionId);
      });
      joining.set(sessionId, opening);
      return opening.finally(() => joining.delete(sessionId));
    },
    /** Leaves the sessions that nobody looks at, and forgets those that have ended. */
    leave(isSeen: (sessionId: string) => boolean): void {
      for (const sessionId of joined) {
        const isLive = others?.isLive(sessionId) === true;
        if (isLive && isSeen(sessionId)) continue;
        if (isLive) others?.leave(sessionId);
        left(sessionId);
      }
    },
    /** Whether an update says what another client does; it is no part of the conversation. */
    isNews(sessionId: string, update: Fields): boolean {
      if (!others) return false;
      switch (update.sessionUpdate) {
        case 'prompt_received':
          if (update.sentBy === String(others.number)) prompts.begun(sessionId);
          else state.event(sessionId, { e: 'running', isRunning: true });
          return true;
        case 'turn_complete':
          state.event(sessionId, { e: 'end', stopReason: String(update.stopReason) });
          return true;
        case 'permission_resolved':
          answeredElsewhere(String(update.requestId));
          return true;
        case 'client_connected':
        case 'client_disconnected':
          return true;
        default:
          return false;
      }
    },
  };
}
