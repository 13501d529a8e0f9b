// A turn in which nothing comes any more. The user is told once; waiting for the user's own answer does not count.

import type { OpenRequest } from '../client/client-connection.ts';
import type { ProxyParts } from '../parts.ts';
import { tell } from '../sessions/attachments.ts';
import type { Session } from '../sessions/session.ts';
import { cancelTurns } from './cancel.ts';

/** How often one looks while a turn may be silent: instead of noting the time of every frame, whether there was one is noted. */
const LOOKS = 6;

export function watchForSilence(proxy: ProxyParts, session: Session): void {
  const { timeouts, onStall } = session.agent.spec;
  if (timeouts.stallMs === 0) return;
  session.quietSinceMs = proxy.context.clock.monotonicMs();
  session.isActive = false;
  if (session.isWatched) return;
  session.isWatched = true;
  let isTold = false;
  const look = () => {
    if (session.turns.size === 0) {
      session.isWatched = false;
      return;
    }
    const nowMs = proxy.context.clock.monotonicMs();
    if (session.isActive || proxy.requests.isWaiting(session) || session.serving.size > 0) {
      session.quietSinceMs = nowMs;
      isTold = false;
    }
    session.isActive = false;
    if (!isTold && nowMs - session.quietSinceMs >= timeouts.stallMs) {
      isTold = true;
      const next = onStall === 'notice' ? 'Cancel the turn if it hangs.' : 'The turn is being cancelled.';
      tell(proxy, session, 'warning', `${session.agent.title} has been silent for ${Math.round(timeouts.stallMs / 1000)} s`, next);
      const turns = [...session.turns];
      if (onStall !== 'notice') cancelTurns(proxy, session);
      if (onStall === 'end') proxy.context.clock.after(timeouts.cancelMs, () => endDeaf(proxy, turns));
    }
    proxy.context.clock.after(timeouts.stallMs / LOOKS, look);
  };
  proxy.context.clock.after(timeouts.stallMs / LOOKS, look);
}

/** Whose agent has not answered them, though they were cancelled: it hears nothing any more, and its sessions come back in another life. */
function endDeaf(proxy: ProxyParts, turns: readonly OpenRequest[]): void {
  for (const turn of turns) {
    const { at } = turn;
    if (at?.agent.findCall(at.id)?.request !== turn) continue;
    proxy.context.report(`agent "${at.agent.name}" was ended: a turn of it was silent, and it did not end that when it was cancelled`);
    at.agent.kill();
  }
}
