// How an agent sends a frame: mostly well, sometimes so that it cannot be forwarded. The ledger records the outcome.
import { type Shape, write } from './frame-text.ts';
import type { AgentFrame, AgentSession, Fate } from './ledger.ts';
import type { SimSource } from './pipe.ts';
import type { Sim } from './sim.ts';

export type Outgoing = {
  readonly kind: AgentFrame['kind'];
  readonly as: Shape['as'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly method?: string;
  readonly id?: string;
  readonly session?: AgentSession | undefined;
  /** Whether it must keep its place among the session's frames. */
  readonly isOrdered?: boolean;
  /** It may have to wait for the user, and only keeps its place among its kind. */
  readonly isEvaluated?: boolean;
  readonly answerTo?: number | undefined;
  readonly about?: Readonly<Record<string, unknown>>;
  readonly fate?: Fate;
  /** Without faults. */
  readonly isPlain?: boolean;
  /** The proxy keeps and reuses its params, so they must not have a number. */
  readonly isUnmarked?: boolean;
  /** Its number is a text, so that frames in a row differ in that text only and the proxy may pass them as a batch. */
  readonly isTextMark?: boolean;
};

/** `refused`: the proxy informs the waiting side. `lost`: nobody can be informed. */
export type Sent = { readonly frame: AgentFrame; readonly came: 'well' | 'refused' | 'lost' };

export type Sender = {
  send(outgoing: Outgoing): Sent;
  /** A line that is no message at all. */
  noise(): void;
};

const NOISE = ['npm warn deprecated', '[]', '42', 'null', '{}', '{"progress":1}', '{"jsonrpc":"2.0","method":', '\u0000', '[{"id":1}]'];

export function createSender(
  sim: Sim,
  who: { readonly agent: string; readonly run: number },
  source: SimSource,
  onReached: (frame: AgentFrame) => void,
): Sender {
  const { random, faults, ledger, limits } = sim;

  function utter(line: Buffer, frame: AgentFrame): void {
    source.send(Buffer.concat([line, Buffer.from('\n')]), () => onReached(frame));
    sim.trace(`${who.agent}#${who.run} says ${frame.serial} [${frame.fate}] ${line.toString('utf8', 0, 300)}`);
  }
  function spoil(line: string, { kind, as, id, isPlain }: Outgoing): { line: Buffer; came: Sent['came'] } {
    const well = { line: Buffer.from(line), came: 'well' as const };
    if (isPlain) return well;
    const hasReceiver = id !== undefined;
    if (faults.happens('oversized line')) {
      const pad = `"pad":"${'x'.repeat(limits.maxFrameBytes + random.int(0, 3000))}"`;
      const at = line.indexOf(`"${as}"`);
      const open = line.indexOf('{', at) + 1;
      const isEmpty = line[open] === '}';
      return {
        line: Buffer.from(`${line.slice(0, open)}${pad}${isEmpty ? '' : ','}${line.slice(open)}`),
        came: hasReceiver ? 'refused' : 'lost',
      };
    }
    if (faults.happens('duplicate keys'))
      return { line: Buffer.from(`{"${as}":{},${line.slice(1)}`), came: hasReceiver ? 'refused' : 'lost' };
    if (faults.happens('broken line')) return { line: Buffer.from(line.slice(0, random.int(1, line.length - 1))), came: 'lost' };
    if (faults.happens('invalid UTF-8')) {
      const bytes = Buffer.from(line);
      bytes[bytes.indexOf('"2.0"') + 1] = 0xff;
      return { line: bytes, came: kind === 'answer' ? 'refused' : 'lost' };
    }
    if (kind === 'answer' && faults.happens('unclear answer')) {
      const unclear = random.chance(0.5)
        ? `{"${as === 'result' ? 'error' : 'result'}":{"code":1,"message":"both"},${line.slice(1)}`
        : `{"jsonrpc":"2.0","id":${id}}`;
      return { line: Buffer.from(unclear), came: 'refused' };
    }
    return well;
  }

  return {
    send(outgoing) {
      const { kind, as, method, id, session, body } = outgoing;
      const serial = ledger.nextSerial();
      const marked = outgoing.isUnmarked
        ? body
        : as === 'error'
          ? { ...body, data: { sim: serial } }
          : { ...body, _meta: { sim: outgoing.isTextMark ? String(serial) : serial } };
      const shape: Shape = {
        as,
        body: marked,
        ...(id !== undefined && { id }),
        ...(method !== undefined && { method }),
        ...(session && as === 'params' && { sessionId: session.native }),
      };
      const writing = write(random, shape, outgoing.isTextMark === true && random.chance(0.9));
      const { line, came } = spoil(writing.line, outgoing);
      const frame = ledger.noteAgent({
        serial,
        agent: who.agent,
        run: who.run,
        kind,
        method,
        session,
        stream: outgoing.isOrdered
          ? `${who.agent}#${who.run}/${session?.native ?? ''}${outgoing.isEvaluated ? '/evaluated' : ''}`
          : undefined,
        writing,
        idText: kind === 'request' ? id : undefined,
        answerTo: outgoing.answerTo,
        about: { ...outgoing.about, isRefused: came === 'refused' },
        fate: came === 'well' ? (outgoing.fate ?? 'must') : 'never',
        isDelivered: false,
        isReceived: false,
      });
      utter(line, frame);
      return { frame, came };
    },
    noise() {
      const text = random.pick(NOISE);
      const writing = { line: text, rewritten: () => text };
      const serial = ledger.nextSerial();
      const frame = ledger.noteAgent({
        ...{ serial, ...who, kind: 'noise', method: undefined, session: undefined, stream: undefined, writing },
        ...{ idText: undefined, answerTo: undefined, about: {}, fate: 'never', isDelivered: false, isReceived: false },
      });
      utter(Buffer.from(text), frame);
    },
  };
}
