// The client's end of a WebSocket to a remote agent: connects, tests silent connections, and reports how it ended.
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { escapeControls } from '../control-characters.ts';
import type { ConnectLimits, Connector, ConnectorEvents } from './connect-remote.ts';
import { type Remote, whyRefused, whyUnreachable } from './remote.ts';
import { webSocketStreams } from './websocket-streams.ts';

const CLOSE_CODES: Readonly<Record<number, string>> = {
  1000: 'the peer closed it',
  1001: 'the peer is going away',
  1002: 'the peer reported a protocol error',
  1006: 'the connection broke',
  1008: 'the peer refused it',
  1009: 'a message was too large',
  1011: 'the peer had an internal error',
  1013: 'the peer is overloaded',
};

/** How long the peer may take to confirm the end. */
const CLOSE_MS = 2000;
const MAX_REASON = 200;
const MAX_UNREAD_BYTES = 1 << 20;

export function openWebSocket(remote: Remote, tls: SecureContextOptions, { maxFrameBytes }: ConnectLimits, on: ConnectorEvents): Connector {
  const socket = new WebSocket(remote.url, {
    headers: { ...remote.headers },
    handshakeTimeout: remote.connectMs,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    autoPong: false,
    followRedirects: false,
    ...tls,
  });
  let isOpen = false;
  let isSilent = false;
  let stopTests = () => {};
  const closed = new Promise<void>((resolve) => {
    socket.once('close', (code: number, reason: Buffer) => {
      stopTests();
      const how = isSilent ? `no answer to a ping within ${remote.keepaliveMs} ms` : (CLOSE_CODES[code] ?? `close code ${code}`);
      const text = escapeControls(reason.toString()).slice(0, MAX_REASON);
      on.over({ kind: 'disconnected', why: text === '' ? how : `${how}: ${text}` });
      resolve();
    });
  });
  socket.on('unexpected-response', (request, response) => {
    on.over({ kind: 'unreachable', ...whyRefused(response.statusCode ?? 0, remote) });
    request.destroy();
    socket.terminate();
  });
  socket.on('error', (error: Error) => {
    if (!isOpen) on.over({ kind: 'unreachable', ...whyUnreachable(error, remote) });
  });
  socket.once('upgrade', (response) => {
    const carrier = response.socket;
    socket.once('open', () => {
      isOpen = true;
      answerPings(socket);
      stopTests = testWhenSilent(socket, carrier, remote.keepaliveMs, () => {
        isSilent = true;
        socket.terminate();
      });
      on.opened(webSocketStreams(socket, carrier));
    });
  });
  return {
    async stop() {
      if (isOpen) socket.close(1000);
      else socket.terminate();
      const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
      await closed;
      clearTimeout(timer);
    },
    kill: () => socket.terminate(),
  };
}

/** Instead of ws's own answers, which pile up if the peer does not read them. */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data: Buffer) => {
    if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_UNREAD_BYTES) socket.pong(data);
  });
}

/** A half-open connection shows itself only by silence. Also for the server's end; returns a function that stops the tests. */
export function testWhenSilent(socket: WebSocket, carrier: Socket, everyMs: number, silent: () => void): () => void {
  if (everyMs === 0) return () => {};
  // Bytes and not messages: a large message, in either direction, may take longer than the interval.
  let before = { read: -1, queued: -1 };
  let isAsked = false;
  const timer = setInterval(() => {
    const now = { read: carrier.bytesRead, queued: carrier.writableLength };
    const hasMoved = now.read !== before.read || now.queued !== before.queued;
    // While reading is paused, nothing can be heard.
    if (isAsked && !hasMoved && !socket.isPaused) return silent();
    isAsked = !hasMoved && !socket.isPaused;
    if (isAsked) socket.ping();
    before = { read: carrier.bytesRead, queued: carrier.writableLength };
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
