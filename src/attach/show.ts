// What the clients of a session are shown. All get the same bytes, except for what one cannot take.
import { updateLine } from '../proxy/json-rpc-lines.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import { parseLine } from '../wire/scanner/strict-parse.ts';
import { isSameForAll, updateFor } from './degrade.ts';
import type { AttachedClient, LiveSession } from './state.ts';

export function show(session: LiveSession, frame: Frame, except?: AttachedClient): void {
  const isSame = isSameForAll(session);
  for (const client of session.attached)
    if (client !== except) {
      if (isSame) client.port.frame(frame);
      else showTo(client, session, frame);
      if (client.principal.role === 'observer') limit(client, session.maxObserverBytes);
    }
}

/** A batch is chunks of messages, which every client can take. */
export function showBatch(session: LiveSession, batch: FrameBatch): void {
  for (const client of session.attached) {
    client.port.batch(batch);
    if (client.principal.role === 'observer') limit(client, session.maxObserverBytes);
  }
}

/** As this client can take it. */
function showTo(client: AttachedClient, session: LiveSession, frame: Frame): void {
  const line = updateFor(client, session, frame);
  if (line === 'same') client.port.frame(frame);
  else if (line !== undefined) client.port.line(line);
}

/** The history that the log has. */
export function showLog(client: AttachedClient, session: LiveSession): void {
  const isSame = isSameForAll(session);
  for (const bytes of session.log.blocks()) {
    if (isSame) client.port.frame(linesAsFrame(bytes));
    else
      for (const line of bytes.toString().split('\n')) {
        const frame = line === '' ? undefined : parseLine(`${line}\n`);
        if (frame) showTo(client, session, frame);
      }
  }
}

/** Whole lines, written as they are. */
const linesAsFrame = (bytes: Buffer): Frame => ({
  bytes,
  start: 0,
  end: bytes.length - 1,
  kind: 'notification',
  method: undefined,
  id: undefined,
  sessionId: undefined,
  session: undefined,
  body: undefined,
  outcome: undefined,
  template: undefined,
  text: undefined,
});

/** An update that is also history. */
export function showUpdate(session: LiveSession, updateText: string, except?: AttachedClient): void {
  const line = updateLine(session.id, updateText);
  session.log.line(line);
  const frame = parseLine(line);
  if (frame) show(session, frame, except);
}

type Update = Readonly<Record<string, unknown>>;

/** Updates of the experimental session/attach go only to those who used it. */
export function notifyAware(session: LiveSession, update: Update | ((client: AttachedClient) => Update), except?: AttachedClient): void {
  for (const client of session.attached) {
    if (client === except || !client.aware.has(session)) continue;
    client.port.line(updateLine(session.id, JSON.stringify(typeof update === 'function' ? update(client) : update)));
  }
}

/** Nothing is ever dropped for a client that stays connected. */
function limit({ port }: AttachedClient, maxBytes: number): void {
  if (port.queuedBytes() > maxBytes) port.end('too slow: attach again');
}
