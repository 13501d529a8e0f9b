// The client's side: its open requests, each answered exactly once.
import { failure, type ProxyError } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import type { Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inOrder, type Patch, type Writer } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { errorLine, resultLine } from '../messages.ts';
import type { Session } from '../sessions/session.ts';

/** A request of the editor's that has no answer yet. */
export type OpenRequest = {
  /** As the editor wrote it. */
  readonly idText: string;
  readonly method: string;
  session: Session | undefined;
  /** The session that it names, while nobody knows whose that is. */
  sought: string | undefined;
  /** Where it waits for an answer; undefined while it is here. */
  at: { readonly agent: Agent; readonly id: string } | undefined;
  /** The editor has taken it back, or its turn was cancelled. */
  isCancelled: boolean;
  isAnswered: boolean;
  /** Stops what is being done for it here, as soon as it has an answer; undefined when only an agent works on it. */
  abandon: (() => void) | undefined;
};

export type ClientConnection = {
  /** Notes a request; undefined (and answered) when its id is already in use. */
  open(frame: Frame): OpenRequest | undefined;
  /** Passes an agent's answer on, with the editor's own id in it. */
  pass(request: OpenRequest, answer: Frame, patches?: readonly Patch[]): void;
  succeed(request: OpenRequest, resultText: string): void;
  fail(request: OpenRequest, error: ProxyError): void;
  /** An error that answers no known request. */
  complain(idText: string, error: ProxyError): void;
  /** The request the editor means by an id. */
  find(idText: string): OpenRequest | undefined;
  openRequests(): Iterable<OpenRequest>;

  notify(frame: Frame, patches?: readonly Patch[]): void;
  line(line: string): void;
  /** A line that need not go at once: it goes before anything else does, or with `flush`. True for the first that waits. */
  later(make: () => string): boolean;
  flush(): void;
};

export function createClientConnection(writer: Writer): ClientConnection {
  const requests = new Map<string, OpenRequest>();
  /** Requests with the id null cannot be told apart, so they are not found by it. */
  const nameless = new Set<OpenRequest>();
  let held: (() => string)[] | undefined;
  function flush(): void {
    if (held === undefined) return;
    const lines = held;
    held = undefined;
    for (const make of lines) writer.line(make());
  }
  /** Behind what was held back. */
  function writeLine(line: string): void {
    if (held !== undefined) flush();
    writer.line(line);
  }
  function writeFrame(frame: Frame, patches: readonly Patch[]): void {
    if (held !== undefined) flush();
    writer.frame(frame, patches);
  }

  /** False if somebody has answered it before. Behind the answer, what has waited may go on: then it is called off. */
  function answers(request: OpenRequest): boolean {
    if (request.isAnswered) return false;
    request.isAnswered = true;
    requests.delete(canonicalId(request.idText));
    nameless.delete(request);
    request.session?.turns.delete(request);
    return true;
  }
  function answerByLine(request: OpenRequest, line: string): void {
    if (!answers(request)) return;
    writeLine(line);
    request.abandon?.();
  }

  return {
    open(frame) {
      const idText = idTextOf(frame);
      const method = frame.method as string;
      const request: OpenRequest = {
        idText,
        method,
        session: undefined,
        sought: undefined,
        at: undefined,
        isCancelled: false,
        isAnswered: false,
        abandon: undefined,
      };
      if (idText === 'null') {
        nameless.add(request);
        return request;
      }
      const key = canonicalId(idText);
      if (requests.has(key)) {
        writeLine(errorLine(idText, failure('ID_IN_USE', [idText])));
        return undefined;
      }
      requests.set(key, request);
      return request;
    },
    pass(request, frame, patches = []) {
      if (!answers(request)) return;
      const own = { span: frame.id as { start: number; end: number }, text: request.idText };
      writeFrame(frame, inOrder([own, ...patches]));
      request.abandon?.();
    },
    succeed: (request, resultText) => answerByLine(request, resultLine(request.idText, resultText)),
    fail: (request, error) => answerByLine(request, errorLine(request.idText, error)),
    complain: (idText, error) => writeLine(errorLine(idText, error)),
    find: (idText) => requests.get(canonicalId(idText)),
    openRequests: () => [...requests.values(), ...nameless],

    notify: (frame, patches = []) => writeFrame(frame, patches.length > 1 ? inOrder(patches) : patches),
    line: writeLine,
    later(make) {
      held?.push(make);
      if (held) return false;
      held = [make];
      return true;
    },
    flush,
  };
}
