// Elicitations: how many may be open, and the names that agents give them.
import { failure } from '../../errors.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import type { Put } from './receive-request.ts';

/** Per session. */
const MAX_ELICITATIONS = 32;

/** An elicitation may refer to a client request, by the id the agent saw, and has an id of its own that another agent may use too. */
export function elicitation(proxy: Parts<'requests'>, agent: Agent, session: Session | undefined, frame: Frame, put: Put): void {
  const { bytes, body } = frame;
  const patches: Patch[] = [];
  const about = memberAt(bytes, body, 'requestId');
  const request = about && agent.findCall(textOf(bytes, about))?.request;
  if (about) {
    // About one of our own requests, or none at all: there is no user to ask.
    if (!request) return agent.succeed(idTextOf(frame), '{"action":"cancel"}');
    patches.push({ span: about, text: request.idText });
  }
  // The session of a prompt that was closed in mid-turn is gone, and the id may be open again.
  const owner = session ?? request?.session;
  if (proxy.requests.count(owner ? { session: owner } : { agent }, 'elicitation/create') >= MAX_ELICITATIONS)
    return agent.fail(
      idTextOf(frame),
      failure('TOO_MANY_OPEN', ['elicitations', MAX_ELICITATIONS, owner ? undefined : 'before a session']),
    );
  const named = memberAt(bytes, body, 'elicitationId');
  const name = stringAt(bytes, named);
  if (named && name !== undefined) {
    const publicName = proxy.requests.elicitations.claim(agent, name);
    if (publicName !== name) patches.push({ span: named, text: JSON.stringify(publicName) });
  }
  put(patches, owner && { session: owner });
}

/** With several agents, an id that this agent has not used may be another's: the client must not take that one for completed. */
export function completeElicitation(proxy: Parts<'context' | 'pool' | 'client' | 'requests'>, agent: Agent, frame: Frame): void {
  const named = memberAt(frame.bytes, frame.body, 'elicitationId');
  const name = stringAt(frame.bytes, named);
  const publicName = name === undefined ? undefined : proxy.requests.elicitations.publicName(agent, name);
  if (!named || publicName === undefined) {
    const isFree = name === undefined || proxy.requests.elicitations.find(name) === undefined;
    return proxy.pool.single && isFree ? proxy.client.notify(frame) : void proxy.context.counters.refusedFromAgents++;
  }
  proxy.requests.elicitations.release(publicName);
  proxy.client.notify(frame, publicName === name ? [] : [{ span: named, text: JSON.stringify(publicName) }]);
}
