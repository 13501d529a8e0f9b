// What goes out to a client. Each of its requests gets exactly one answer, under the id as the client wrote it.
import { failure, type ProxyError } from '../../errors.ts';
import { canonicalId } from '../../router/pending-ids.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inOrder, type Patch, type Writer } from '../../wire/writer.ts';
import type { AgentSide, ClientRequest } from '../boundary.ts';
import { errorLine, resultLine } from '../json-rpc-lines.ts';

/** Writes to the client. Lines that can wait are written before anything else is. */
export class ClientOutput {
  readonly #writer: Writer;
  #delayed: (() => string)[] | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  frame(frame: Frame, patches: readonly Patch[]): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.frame(frame, patches.length > 1 ? inOrder(patches) : patches);
  }

  batch(batch: FrameBatch): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.batch(batch);
  }

  line(line: string): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.line(line);
  }

  /** True for the first line that waits. */
  later(make: () => string): boolean {
    this.#delayed?.push(make);
    if (this.#delayed) return false;
    this.#delayed = [make];
    return true;
  }

  flush(): void {
    const lines = this.#delayed ?? [];
    this.#delayed = undefined;
    for (const make of lines) this.#writer.line(make());
  }
}

export class ClientRequests {
  readonly #output: ClientOutput;
  readonly #agents: Pick<AgentSide, 'settled' | 'answerSent'>;
  readonly #byId = new Map<string, ClientRequest>();
  /** Requests with the id null are indistinguishable, so they cannot be found by id. */
  readonly #withoutId = new Set<ClientRequest>();

  constructor(output: ClientOutput, agents: Pick<AgentSide, 'settled' | 'answerSent'>) {
    this.#output = output;
    this.#agents = agents;
  }

  /** Undefined, and answered, when the id is already in use. */
  open(frame: Frame): ClientRequest | undefined {
    const idText = idTextOf(frame);
    const request: ClientRequest = {
      idText,
      method: frame.method as string,
      session: undefined,
      soughtSessionId: undefined,
      forwardedTo: undefined,
      isCancelled: false,
      overdue: undefined,
      isAnswered: false,
      abandon: undefined,
    };
    if (idText === 'null') {
      this.#withoutId.add(request);
      return request;
    }
    const key = canonicalId(idText);
    if (this.#byId.has(key)) {
      this.#output.line(errorLine(idText, failure('ID_IN_USE', [idText])));
      return undefined;
    }
    this.#byId.set(key, request);
    return request;
  }

  pass(request: ClientRequest, answer: Frame, patches: readonly Patch[]): void {
    if (!this.#settle(request)) return;
    this.#output.frame(answer, [{ span: answer.id as Span, text: request.idText }, ...patches]);
    this.#sent(request);
  }

  succeed(request: ClientRequest, resultText: string): void {
    if (!this.#settle(request)) return;
    this.#output.line(resultLine(request.idText, resultText));
    this.#sent(request);
  }

  fail(request: ClientRequest, error: ProxyError): void {
    if (!this.#settle(request)) return;
    this.#output.line(errorLine(request.idText, error));
    this.#sent(request);
  }

  find(idText: string): ClientRequest | undefined {
    return this.#byId.get(canonicalId(idText));
  }

  all(): readonly ClientRequest[] {
    return [...this.#byId.values(), ...this.#withoutId];
  }

  /** After the answer, since both may release frames that waited. */
  #sent(request: ClientRequest): void {
    request.abandon?.();
    this.#agents.answerSent(request);
  }

  /** False when it is already answered. */
  #settle(request: ClientRequest): boolean {
    if (request.isAnswered) return false;
    request.isAnswered = true;
    this.#byId.delete(canonicalId(request.idText));
    this.#withoutId.delete(request);
    this.#agents.settled(request);
    return true;
  }
}
