// What the clients of a session are shown. All get the same bytes.
import { updateLine } from '../proxy/messages.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import type { AttachedClient, LiveSession } from './state.ts';

export function show(session: LiveSession, frame: Frame, except?: AttachedClient): void {
  for (const client of session.attached)
    if (client !== except) {
      client.port.frame(frame);
      if (client.principal.role === 'observer') limit(client, session.maxObserverBytes);
    }
}

export function showBatch(session: LiveSession, batch: FrameBatch): void {
  for (const client of session.attached) {
    client.port.batch(batch);
    if (client.principal.role === 'observer') limit(client, session.maxObserverBytes);
  }
}

export function showLine(session: LiveSession, line: string, except?: AttachedClient): void {
  for (const client of session.attached)
    if (client !== except) {
      client.port.line(line);
      if (client.principal.role === 'observer') limit(client, session.maxObserverBytes);
    }
}

/** An update that is also history. */
export function showUpdate(session: LiveSession, updateText: string, except?: AttachedClient): void {
  const line = updateLine(session.id, updateText);
  session.log.line(line);
  showLine(session, line, except);
}

/** Updates of the experimental session/attach go only to those who used it. */
export function notifyAware(session: LiveSession, update: Readonly<Record<string, unknown>>, except?: AttachedClient): void {
  for (const client of session.attached)
    if (client !== except && client.aware.has(session)) client.port.line(updateLine(session.id, JSON.stringify(update)));
}

/** Nothing is ever dropped for a client that stays connected. */
function limit({ port }: AttachedClient, maxBytes: number): void {
  if (port.queuedBytes() > maxBytes) port.end('too slow: attach again');
}
