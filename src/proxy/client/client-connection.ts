// One connection to a client: framing, the initialize gate and back-pressure.
import { failure, type ProxyError } from '../../errors.ts';
import type { Sink, Source } from '../../wire/byte-stream.ts';
import { type Connection, createConnection, type OversizedFrame } from '../../wire/connection.ts';
import { detach, type Frame, type Limits } from '../../wire/frame.ts';
import type { Observer } from '../../wire/observer.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Scanner } from '../../wire/scanner/scanner.ts';
import type { Refusal } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { AgentSide, ClientPort, ClientRequest } from '../boundary.ts';
import type { Context } from '../context.ts';
import { errorLine } from '../json-rpc-lines.ts';
import { createTrafficWarnings } from '../traffic-warnings.ts';
import { ClientOutput, ClientRequests } from './client-requests.ts';

/** `ended`: the client has hung up. A last line may follow without its line feed; nothing is started for it. */
type ClientState = 'awaiting-initialize' | 'initializing' | 'ready' | 'ended';

export type ClientDeps = {
  readonly input: Source;
  readonly output: Sink;
  readonly limits: Limits;
  readonly scanner: Scanner;
  readonly observer: Observer | undefined;
  readonly context: Pick<Context, 'clock' | 'counters' | 'lastFrame' | 'report'>;
  readonly agents: AgentSide;
  /** The policy has evaluated enough for now: others wait. */
  readonly mustYield?: (() => boolean) | undefined;
};

/** Frames that wait for the answer to initialize. */
type HeldFrames = { readonly steps: (() => void)[]; bytes: number };

export class ClientConnection implements ClientPort {
  /** Resolves when the client has gone, or does not read. */
  readonly ended: Promise<void>;
  readonly #agents: AgentSide;
  readonly #context: ClientDeps['context'];
  readonly #limits: Limits;
  readonly #connection: Connection;
  readonly #output: ClientOutput;
  readonly #requests: ClientRequests;
  readonly #watchTraffic: (bytes: number) => void;
  #state: ClientState = 'awaiting-initialize';
  /** Undefined once the client has its answer to initialize. */
  #held: HeldFrames | undefined = { steps: [], bytes: 0 };
  /** The client does not read. */
  #isFull = false;

  constructor({ input, output, limits, scanner, observer, context, agents, mustYield }: ClientDeps) {
    this.#agents = agents;
    this.#context = context;
    this.#limits = limits;
    this.#watchTraffic = createTrafficWarnings(context.clock, 'the editor', context.report);
    let end = () => {};
    this.ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#connection = createConnection(
      input,
      output,
      { scanner, maxFrameBytes: limits.maxFrameBytes, observer },
      {
        frame: (frame) => this.#received(frame),
        refused: (refusal) => this.#refused(refusal),
        oversized: (frame) => this.#oversized(frame),
        ending: () => {
          this.#state = 'ended';
        },
        end: () => end(),
        error: () => end(),
        ...(mustYield && { mustYield }),
        // A client that stops reading pauses the agents, so that memory does not grow.
        full: () => {
          this.#isFull = true;
          agents.pause();
        },
        drain: () => {
          this.#isFull = false;
          agents.resume();
        },
      },
    );
    this.#output = new ClientOutput(this.#connection.writer);
    this.#requests = new ClientRequests(this.#output, agents);
  }

  /** The client has its answer to initialize. */
  isInitialized(): boolean {
    return this.#held === undefined;
  }

  /** Runs `then` once the client has its answer to initialize: nothing else may reach it before. Frames keep their order. */
  afterInitialize(from: { pause(): void }, frame: Frame, then: (frame: Frame) => void): void {
    const held = this.#held;
    if (!held) return then(frame);
    const kept = detach(frame);
    held.steps.push(() => then(kept));
    held.bytes += kept.end - kept.start;
    // Pause a peer that exceeds the pre-initialize buffer, even if its own answer to initialize comes later.
    if (held.bytes > this.#heldLimitBytes()) from.pause();
  }

  pass(request: ClientRequest, answer: Frame, patches: readonly Patch[] = []): void {
    this.#requests.pass(request, answer, patches);
  }

  succeed(request: ClientRequest, resultText: string): void {
    this.#requests.succeed(request, resultText);
  }

  fail(request: ClientRequest, error: ProxyError): void {
    this.#requests.fail(request, error);
  }

  failInternally(request: ClientRequest | undefined, method: string, error: unknown): void {
    const reason = String((error as Error).message);
    this.#context.report(`failed on ${method}: ${reason}`);
    if (request) this.fail(request, failure('INTERNAL', [method, reason]));
  }

  find(idText: string): ClientRequest | undefined {
    return this.#requests.find(idText);
  }

  openRequests(): readonly ClientRequest[] {
    return this.#requests.all();
  }

  notify(frame: Frame, patches: readonly Patch[] = []): void {
    this.#output.frame(frame, patches);
  }

  notifyBatch(batch: FrameBatch): void {
    this.#output.batch(batch);
  }

  line(line: string): void {
    this.#output.line(line);
  }

  later(make: () => string): boolean {
    return this.#output.later(make);
  }

  flush(): void {
    this.#output.flush();
  }

  /** All held frames may be for one agent, and must fit into its queue. */
  #heldLimitBytes(): number {
    return this.#limits.maxQueueBytes / 2;
  }

  #received(frame: Frame): void {
    const bytes = frame.end - frame.start;
    const { lastFrame } = this.#context;
    lastFrame.method = frame.method;
    lastFrame.bytes = bytes;
    this.#watchTraffic(bytes);
    if (frame.kind === 'response') return this.#agents.answered(frame) ? undefined : this.#stray(frame);
    const request = frame.kind === 'request' ? this.#requests.open(frame) : undefined;
    if (frame.kind === 'request' && !request) return;
    if (this.#state === 'ended' || this.#agents.isClosed()) return void (request && this.fail(request, failure('SHUTTING_DOWN', [])));
    try {
      this.#admit(request, frame);
    } catch (error) {
      this.failInternally(request, frame.method as string, error);
    }
  }

  /** An id alone is no answer. Its sender may wait for one, unless it has a request of that id open. */
  #stray(frame: Frame): void {
    if (frame.outcome !== 'unclear' || frame.body) return;
    const idText = idTextOf(frame);
    this.#answerUnread('request', this.find(idText) ? undefined : idText, failure('NOT_A_MESSAGE', ['neither method, result nor error']));
  }

  #admit(request: ClientRequest | undefined, frame: Frame): void {
    if (request && frame.method === 'initialize') return this.#initialize(request, frame);
    if (this.#state === 'ready') return this.#agents.receive(request, frame);
    if (this.#state === 'initializing')
      return this.afterInitialize(this.#connection, frame, (kept) => {
        if (!request?.isAnswered) this.#agents.receive(request, kept);
      });
    if (request) this.fail(request, failure('NOT_INITIALIZED', [request.method]));
    else this.#context.counters.refusedFromClient++;
  }

  #initialize(request: ClientRequest, frame: Frame): void {
    const isAccepted = this.#agents.initialize(request, frame, () => this.#initialized());
    if (isAccepted && this.#state === 'awaiting-initialize') this.#state = 'initializing';
  }

  #initialized(): void {
    const held = this.#held;
    if (!held) return; // a second initialize
    this.#held = undefined;
    if (this.#state !== 'ended') this.#state = 'ready';
    for (const step of held.steps) step();
    if (held.bytes <= this.#heldLimitBytes()) return;
    this.#connection.resume();
    if (!this.#isFull) this.#agents.resume();
  }

  #refused({ why, reason, kind, idText }: Refusal): void {
    this.#context.counters.refusedFromClient++;
    this.#answerUnread(kind, idText, failure(why === 'broken' ? 'PARSE' : why === 'foreign' ? 'NOT_A_MESSAGE' : 'AMBIGUOUS', [reason]));
  }

  #oversized({ kind, idText, bytes }: OversizedFrame): void {
    const { maxFrameBytes } = this.#limits;
    this.#context.report(`a frame of ${bytes} bytes from the editor was skipped: limits.max_frame_bytes is ${maxFrameBytes}`);
    this.#answerUnread(kind, idText, failure('FRAME_TOO_LONG', [maxFrameBytes]));
  }

  /** Answers a line that is not passed on. If it was an answer itself, the agent that waits for it gets the error. */
  #answerUnread(kind: Refusal['kind'], idText: string | undefined, error: ProxyError): void {
    if (kind === 'response' && idText !== undefined) this.#agents.unusable(idText, error);
    else if (kind !== 'response') this.#output.line(errorLine(kind === 'request' && idText !== undefined ? idText : 'null', error));
  }
}
