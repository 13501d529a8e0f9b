// What must be over when nobody has any use for it: questions, sessions at agents, errands, and what is shown of them.
import { type Evidence, isDiscarded, isThere, nameOf, runOf } from './evidence.ts';
import { type AgentFrame, type AgentSession, clientsOwn } from './ledger.ts';

/** Of sessions that agents have just opened for a change that nobody wants any more, and of those that have given up their ids. */
export function nothingIsAskedForNobody(seen: Evidence): void {
  if (seen.isStopping) return;
  for (const { session, about, fate } of seen.arrived) {
    if (!session || about.change === undefined || about.opened !== true || fate === 'never' || !isDiscarded(seen, session)) continue;
    if (seen.blindLoads.has(session.native)) continue; // the client may have found it
    for (const [id, asked] of seen.atClient)
      if (asked.session === session) seen.problem(`${nameOf(asked)} is open at the client as ${id} though nobody wants its session`);
  }
  for (const [id, asked] of seen.atClient) {
    const holder = seen.bound.get(seen.askedUnder.get(asked) as string);
    if (holder?.isLive && asked.session && !isOf(asked, holder.session) && !seen.answered.has(asked))
      seen.problem(`${nameOf(asked)} is open at the client as ${id} in a session that is ${holder.session.agent}/${holder.session.native}`);
  }
}

/** The call has its answer, so that nobody waits for what the agent asks that was sent. */
export function errandsEnd(seen: Evidence): void {
  for (const [id, asked] of [...seen.atClient, ...seen.standIns]) {
    const call = asked.session?.errandFor && seen.errands.get(asked.session);
    if (call && seen.answered.has(call) && !seen.answered.has(asked) && isThere(runOf(seen, asked)) && !seen.isStopping)
      seen.problem(`${nameOf(asked)} is open at the client as ${id} though ${nameOf(call)} has its answer`);
  }
}

/** What was opened and is nobody's any more is closed, at an agent that can close. */
export function nothingIsLeftOpen(seen: Evidence): void {
  for (const answer of seen.ledger.agentFrames) {
    const { session, about, isDelivered, fate } = answer;
    const isThereSince = about.backSince ?? (about.opened === true ? 0 : undefined);
    if (!session || !isDelivered || fate === 'never' || typeof isThereSince !== 'number' || seen.judgedRefused.has(answer)) continue;
    const run = runOf(seen, answer);
    const isHeld = [...seen.bound.values()].some((holder) => holder.isLive && holder.session === session);
    const isClosed = (seen.closedIn.get(run)?.get(session) ?? -1) >= isThereSince;
    if (isThere(run) && run.model.traits.close && !isHeld && !isClosed)
      seen.problem(`${session.native} is still open at ${run.agent}#${run.number}, since ${nameOf(answer)}, and nobody has it`);
  }
}

/** What the proxy shows of its own making has an end. */
export function shownCallsEnd(seen: Evidence): void {
  for (const [toolCallId, publicId] of seen.shownCalls)
    if (seen.bound.get(publicId)?.isLive) seen.problem(`tool call ${toolCallId} is shown in ${publicId} as if it went on`);
}

/** In this session of the client's, or on an errand for it. */
export const isOf = ({ session }: AgentFrame, own: AgentSession): boolean => session !== undefined && clientsOwn(session) === own;
