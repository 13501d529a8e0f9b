// A turn from its prompt to its end, and the end of a session.
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { COMMAND_NAME, readAgentCommand } from '../../router/config-options.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { elements, memberAt } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { ForwardedCall } from '../agents/agent.ts';
import type { OpenRequest } from '../client/client-connection.ts';
import type { Hub } from '../hub.ts';
import { passAnswer } from '../rewrite.ts';
import { agentByCommand, closeAt } from '../sessions/change-agent.ts';
import { park } from '../sessions/close-session.ts';
import { announceOptions } from '../sessions/config-options.ts';
import { untrack } from '../sessions/find-session.ts';
import { type Session, toNative } from '../sessions/session.ts';
import { lookForTools } from '../tools/confirm-tools.ts';
import { answerRequests, CANCELLED, cancelRequests, endRequests } from './cancel.ts';
import { degradeResource } from './degrade.ts';
import { watchForSilence } from './stall-watch.ts';

/** A prompt that is nothing but our command is no longer than this. */
const MAX_COMMAND_BYTES = 4096;
const OUR_COMMAND = Buffer.from(`/${COMMAND_NAME}`);
const SPELLED_LETTER = Buffer.from('\\u');
const RESOURCE = Buffer.from('"resource"');

export function prompt(hub: Hub, request: OpenRequest, session: Session, frame: Frame): void {
  const command = ourCommand(hub, session, frame);
  if (command?.ok === false) return hub.client.fail(request, failure('AMBIGUOUS', [command.reason]));
  if (command) return agentByCommand(hub, request, session, command.named);
  session.turns.add(request);
  watchForSilence(hub, session);
  const isFirst = !session.isStarted;
  session.isStarted = true;
  if (isFirst && !hub.singleAgent) announceOptions(hub, session);
  session.agent.forward(frame, new PromptCall(hub, request, session));
}

// A class, so that all turns run the same functions: what V8 has compiled for a closure goes with the last one of its kind, and each turn had its own.
class PromptCall implements ForwardedCall {
  readonly method: string;
  readonly request: OpenRequest;
  readonly #hub: Hub;
  readonly #session: Session;
  readonly #native: (frame: Frame) => readonly Patch[];

  constructor(hub: Hub, request: OpenRequest, session: Session) {
    this.method = request.method;
    this.request = request;
    this.#hub = hub;
    this.#session = session;
    this.#native = toNative(session);
  }

  patches(frame: Frame): readonly Patch[] {
    return [...this.#native(frame), ...plainer(this.#hub, this.#session, frame)];
  }

  onAnswer(answer: Frame): void {
    passAnswer(this.#hub, this.request, this.#session, answer);
    lookForTools(this.#hub, this.#session);
  }

  /** A turn that was cancelled ends so, even if its agent does not live to say it. */
  onFail(error: ProxyError): void {
    if (this.request.isCancelled) this.#hub.client.succeed(this.request, CANCELLED);
    else this.#hub.client.fail(this.request, error);
  }
}

type Command = { readonly ok: true; readonly named: string } | { readonly ok: false; readonly reason: string };

/** `/agent` and what it names, when a prompt is nothing else: that one is ours to answer, also while the session's agent is dead. */
export function ourCommand(hub: Hub, session: Session, frame: Frame): Command | undefined {
  if (hub.singleAgent || session.hasAgentCommand || frame.end - frame.start >= MAX_COMMAND_BYTES || !mayBeCommand(frame)) return undefined;
  const params = readBody(frame);
  if (!params.ok) return params;
  const named = readAgentCommand((params.value as { prompt?: unknown } | undefined)?.prompt);
  return named === undefined ? undefined : { ok: true, named };
}

/** Nearly no prompt is, and one that is not need not be read: the command stands there as it is, unless a letter is spelled as a number. */
function mayBeCommand(frame: Frame): boolean {
  return holds(frame, OUR_COMMAND) || holds(frame, SPELLED_LETTER);
}

/** Embedded resources said in other words, for an agent that does not take them though another one does. */
function plainer(hub: Hub, session: Session, frame: Frame): Patch[] {
  if (hub.singleAgent || offers(session.agent.handshake?.result, 'promptCapabilities', 'embeddedContext') || !mayHoldResource(frame))
    return [];
  const blocks = memberAt(frame.bytes, frame.body, 'prompt');
  if (!blocks || !readBody(frame).ok) return [];
  return elements(frame.bytes, blocks.start).flatMap((span) => {
    const instead = degradeResource(JSON.parse(frame.bytes.toString('utf8', span.start, span.end)));
    return instead ? [{ span, text: JSON.stringify(instead) }] : [];
  });
}

/** Nearly no prompt does, and to read one twice takes longer than to pass it on. */
const mayHoldResource = (frame: Frame): boolean => holds(briefOf(frame), RESOURCE);

/** Not the rest of the chunk, in which there may be hundreds more. */
const holds = ({ bytes, start, end }: Frame, wanted: Buffer): boolean => bytes.subarray(start, end).includes(wanted);

/** Ends what is open on the session, then the session; for an agent that knows no session/close, a cancel is as near as one gets. */
export function close(hub: Hub, request: OpenRequest, session: Session, frame: Frame): void {
  answerRequests(hub, session); // first: the agent may wait for one of them before it closes
  endAt(hub, request, session, frame, {
    capability: 'close',
    over: () => endSession(hub, session),
    again: (other, mine) => close(hub, request, other, mine),
    instead() {
      cancelAt(session);
      park(session);
    },
  });
}

const cancelAt = ({ agent, nativeId }: Session): void => agent.notifyLine('session/cancel', JSON.stringify({ sessionId: nativeId }));

/** For an agent that cannot delete, the session is no longer listed: deleting softly is allowed. What it does there ends all the same. */
export function remove(hub: Hub, request: OpenRequest, session: Session, frame: Frame): void {
  endAt(hub, request, session, frame, {
    capability: 'delete',
    again: (other, mine) => remove(hub, request, other, mine),
    over() {
      endSession(hub, session);
      const { agent, publicId, nativeId } = session;
      hub.log.append({ sessionId: publicId, agent: agent.name, nativeId, at: hub.clock.now(), isGone: true });
      hub.transcripts?.forget(publicId);
    },
    instead() {
      const { agent, nativeId } = session;
      if (offers(agent.handshake?.result, 'sessionCapabilities', 'close')) closeAt(agent, nativeId, ['close']);
      else cancelAt(session);
    },
  });
}

type End = {
  readonly capability: 'close' | 'delete';
  readonly over: () => void;
  readonly instead: () => void;
  readonly again: (session: Session, frame: Frame) => void;
};

function endAt(hub: Hub, request: OpenRequest, session: Session, frame: Frame, end: End): void {
  const { capability, over, instead } = end;
  const { agent } = session;
  /** The session has gone to another agent, while this one was being started or had not answered yet. */
  const hasMoved = () => session.agent !== agent;
  const done = () => {
    over();
    hub.client.succeed(request, '{}');
  };
  // Closed it is already, with its agent, which need not be started for that; unless it is just being brought back.
  const wasClosed = (session.isLost || session.isRecord) && capability === 'close';
  const ended = (then: () => void) => {
    then();
    session.afterEnd.release();
  };
  if (wasClosed && !session.toAgent.isHeld) return ended(done);
  session.afterEnd.hold(request);
  const owned = detach(frame);
  const failed = (error: ProxyError) => {
    if (hasMoved() && !request.isAnswered) return endAt(hub, request, session, owned, end);
    ended(() => (wasClosed ? done() : hub.client.fail(request, error)));
  };
  agent.whenReady(() => {
    if (request.isAnswered) return ended(() => {}); // taken back before it could be sent
    if (hasMoved()) return endAt(hub, request, session, owned, end);
    // A load failed meanwhile and took the session with it, and the next one has made another of that id.
    const other = hub.sessions.get(session.publicId);
    if (other && other !== session) return ended(() => end.again(other, owned));
    if (!hub.singleAgent && !offers(agent.handshake?.result, 'sessionCapabilities', capability)) {
      instead();
      return ended(done);
    }
    agent.forward(owned, {
      method: request.method,
      request,
      patches: toNative(session),
      onFail: failed,
      onAnswer: (answer) =>
        ended(() => {
          if (answer.outcome === 'result') {
            if (hasMoved()) closeAt(session.agent, session.nativeId);
            else agent.refused.delete(session.nativeId); // the agent has no session of that id any more
            over();
          }
          passAnswer(hub, request, session, answer, agent);
        }),
    });
  }, failed);
}

/** Nothing of the session stays open, neither under way nor waiting; a load that its agent still works on opens nothing any more. */
function endSession(hub: Hub, session: Session): void {
  const left = session.toAgent.empty(); // first: a turn that is a change of agent releases the lane when it ends, and nothing may go on then
  for (const turn of session.turns) hub.client.succeed(turn, CANCELLED);
  for (const waiting of left) {
    if (waiting.method === 'session/prompt') hub.client.succeed(waiting, CANCELLED);
    else hub.client.fail(waiting, failure('CANCELLED', [waiting.method]));
  }
  // Its id may be another's from now on, and what is asked under it must not be taken for that one's. A sole agent has ids of its own.
  if (hub.singleAgent) cancelRequests(hub, session);
  else endRequests(hub, session);
  untrack(hub, session);
}
