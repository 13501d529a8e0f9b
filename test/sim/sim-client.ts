// The simulated client: opens sessions, prompts several at once, answers requests when and how it likes, and makes its own mistakes.

import type { Received } from './check-client.ts';
import { createLineReader, type Shape, write } from './frame-text.ts';
import type { AgentFrame, ClientFrame, Fate } from './ledger.ts';
import { SimSink, SimSource } from './pipe.ts';
import type { Message, Sim } from './sim.ts';

export type ClientSession = {
  readonly publicId: string;
  readonly lineage: number;
  isClosed: boolean;
  /** The client has asked for its end, by the request of this number. */
  isEnding: boolean;
  endedBy: number;
  isStarted: boolean;
  /** The id of the option that changes its agent. */
  agentOption: string;
};

type PendingRequest = { readonly idText: string; readonly frame: AgentFrame; readonly isStandIn: boolean; dueMs: number; isNever: boolean };

export type Outgoing = {
  readonly kind: ClientFrame['kind'];
  readonly as?: Shape['as'];
  readonly method?: string;
  readonly id?: string;
  readonly publicId?: string;
  readonly lineage?: number | undefined;
  readonly opens?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly answerTo?: number;
  readonly about?: Readonly<Record<string, unknown>>;
  readonly fate?: Fate;
  /** The line as it goes out instead. */
  readonly spoilt?: (line: string) => Buffer;
};

export type SimClient = {
  readonly source: SimSource;
  readonly sink: SimSink;
  readonly sessions: ClientSession[];
  /** Public ids it has seen in lists. */
  readonly listed: Set<string>;
  /** Where the last list continues. */
  cursor: string | undefined;
  readonly requests: PendingRequest[];
  /** Requests without a response, as far as the client knows. */
  readonly waiting: Set<ClientFrame>;
  isReading: boolean;
  isInitialized: boolean;
  readonly hasInput: boolean;
  nextId(): string;
  send(outgoing: Outgoing): ClientFrame;
  read(maxBytes: number): void;
};

const WATER_MARK_BYTES = 4096;
const ENDS: ReadonlySet<string | undefined> = new Set(['session/close', 'session/delete']);

export function createSimClient(sim: Sim): SimClient {
  const { random, faults, ledger, oracle, clock } = sim;
  const inbox: { readonly endsAt: number; readonly received: Received }[] = [];
  let bytesParsed = 0;
  let bytesRead = 0;
  let ids = 0;
  const readLine = createLineReader((line) => {
    sim.trace(`client is sent ${line.slice(0, 300)}`);
    bytesParsed += Buffer.byteLength(line) + 1;
    inbox.push({ endsAt: bytesParsed, received: oracle.clientReceived(line) });
  });
  const source = new SimSource();
  const sink = new SimSink(WATER_MARK_BYTES, readLine);
  oracle.watchClient(sink);

  function receive({ message, idText, frame, request, isStandIn }: Received): void {
    if (message.method !== undefined) {
      if (idText !== undefined && frame) ask(idText, frame, isStandIn);
      return;
    }
    if (!request) return;
    self.waiting.delete(request);
    if (request.method === 'initialize') self.isInitialized = true;
    if (message.error !== undefined) return;
    switch (request.method) {
      case 'session/new':
      case 'session/fork':
        return void (
          typeof message.result?.sessionId === 'string' && opened(message.result.sessionId, request.opens as number, request, message)
        );
      case 'session/load':
      case 'session/resume':
        return void (frame?.session && opened(request.publicId as string, frame.session.lineage, request, message));
      case 'session/list':
        self.cursor = message.result?.nextCursor as string | undefined;
        for (const { sessionId } of (message.result?.sessions ?? []) as { sessionId: string }[]) self.listed.add(sessionId);
        return;
      case 'session/close':
      case 'session/delete':
        for (const session of self.sessions)
          if (session.publicId === request.publicId && session.lineage === request.lineage) session.isClosed = true;
    }
  }
  function opened(publicId: string, lineage: number, { method, serial }: ClientFrame, { result }: Message): void {
    const options = (result?.configOptions ?? []) as readonly { readonly id: string; readonly category?: string }[];
    const agentOption = options.find(({ category }) => category === '_agent')?.id ?? 'agent';
    const known = self.sessions.find((session) => session.publicId === publicId && session.lineage === lineage);
    if (known) {
      if (serial < known.endedBy) return; // it was asked to end after that
      known.isClosed = false;
      known.isEnding = false;
    } else {
      // The id may have been another session's before that one was closed.
      for (const session of self.sessions) if (session.publicId === publicId) session.isClosed = true;
      self.sessions.push({
        publicId,
        lineage,
        isClosed: false,
        // A close or delete of the previous one may have reached this one instead.
        isEnding: [...self.waiting].some((other) => other.publicId === publicId && ENDS.has(other.method)),
        endedBy: 0,
        isStarted: method !== 'session/new',
        agentOption,
      });
    }
  }
  function ask(idText: string, frame: AgentFrame, isStandIn: boolean): void {
    const isLate = faults.happens('client: answers late');
    const dueMs = clock.nowMs + (isLate ? random.int(500, 30_000) : 0);
    self.requests.push({ idText, frame, isStandIn, dueMs, isNever: faults.happens('client: never answers') });
  }

  const self: SimClient = {
    source,
    sink,
    sessions: [],
    listed: new Set(),
    cursor: undefined,
    requests: [],
    waiting: new Set(),
    isReading: true,
    isInitialized: false,
    get hasInput() {
      return self.isReading && sink.writableLength > 0;
    },
    nextId() {
      const number = ++ids;
      return random.weighted([
        [8, String(number)],
        [1, `"c${number}"`],
        [0.5, `${number}.0`],
        [0.5, `900719925474${number + 1000}93`],
      ]);
    },
    send({ kind, as = 'params', method, id, publicId, lineage, opens, body = {}, answerTo, about = {}, fate = 'must', spoilt }) {
      const serial = ledger.nextSerial();
      const marked =
        as === 'error'
          ? { ...body, data: { sim: serial } }
          : { ...body, _meta: { ...(body._meta as Record<string, unknown> | undefined), sim: serial } };
      const writing = write(random, {
        as,
        body: marked,
        ...(id !== undefined && { id }),
        ...(method !== undefined && { method }),
        ...(publicId !== undefined && { sessionId: publicId }),
      });
      const frame = ledger.noteClient({
        ...{ serial, kind, method, idText: id, publicId, lineage, opens, writing, answerTo, about, fate },
        isDelivered: false,
        answers: 0,
      });
      if (kind === 'request') self.waiting.add(frame);
      const line = spoilt ? spoilt(writing.line) : Buffer.from(writing.line);
      sim.trace(`client says ${serial} [${fate}] ${line.toString('utf8', 0, 300)}`);
      source.send(Buffer.concat([line, Buffer.from('\n')]), () => oracle.clientSent(frame));
      return frame;
    },
    read(maxBytes) {
      bytesRead += sink.take(maxBytes).length;
      while (inbox[0] !== undefined && inbox[0].endsAt <= bytesRead) receive((inbox.shift() as (typeof inbox)[number]).received);
    },
  };
  return self;
}
