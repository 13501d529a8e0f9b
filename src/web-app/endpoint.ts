// `/ws`: the WebSocket of the web app's service. The pages of a principal share what it has, and what it has waits a while for the next page.
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Gate, GuardedEndpoint } from '../listener/gate.ts';
import { MAX_UNREAD_BYTES } from '../listener/http-connection.ts';
import { type BodyLimits, refuse, refuseUpgrade } from '../listener/respond.ts';
import { boundUnfinished } from '../listener/unfinished-messages.ts';
import type { Token } from '../store/tokens.ts';
import { answerPings, testWhenSilent } from '../transports/websocket.ts';
import { type FrameId, readFrame, type Service } from './frames.ts';
import { OPS } from './ops/table.ts';
import { createPrincipal, type Page, type Principal, type PrincipalDeps } from './principal.ts';
import { frameErrorOf, refusals, wantsLogin } from './refusal.ts';

export type WebAppDeps = {
  readonly gate: Pick<Gate, 'whileValid'>;
  readonly maxFrameBytes: number;
  readonly bodyLimits: (principal: string) => BodyLimits;
  /** How long agents and sessions wait for another page. */
  readonly graceMs: number;
  readonly forPrincipal: (token: Token) => PrincipalDeps;
};

export type WebApp = Required<GuardedEndpoint> & {
  /** Whether a request of a page has no answer yet. */
  isBusy(): boolean;
  /** Ends all pages, and waits until their agents have stopped. */
  close(): Promise<void>;
};

type Kept = { readonly principal: Principal; readonly stopWatching: () => void; grace?: NodeJS.Timeout | undefined };

const MAX_PAGES = 64;
const MAX_OPEN_REQUESTS = 256;
const SILENT_MS = 30_000;
const CLOSE_MS = 2000;

export function createWebApp({ gate, maxFrameBytes, bodyLimits, graceMs, forPrincipal }: WebAppDeps): WebApp {
  /** A token of the same name may have another role. */
  const keyOf = ({ name, role, createdAt }: Token) => JSON.stringify([name, role, createdAt]);
  const kept = new Map<string, Kept>();
  const sockets = new Map<Page, WebSocket>();
  const stopping = new Set<Promise<void>>();
  let allOpenRequests = 0;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    autoPong: false,
    clientTracking: false,
    // The token is never echoed, and browsers want an answer to their offer.
    handleProtocols: (offered) => [...offered].find((one) => !one.startsWith('bearer.')) ?? false,
  });

  function keep(token: Token): Kept {
    const key = keyOf(token);
    const known = kept.get(key);
    if (known) return known;
    const stopWatching = gate.whileValid(token, () => end(key, 1008, 'the token was revoked or has expired'));
    const one: Kept = { principal: createPrincipal(forPrincipal(token)), stopWatching };
    kept.set(key, one);
    return one;
  }
  function end(key: string, code: number, reason: string): void {
    const one = kept.get(key);
    if (!one) return;
    kept.delete(key);
    clearTimeout(one.grace);
    one.stopWatching();
    for (const page of one.principal.pages) closeSocket(page, code, reason);
    const stopped = one.principal.close().finally(() => stopping.delete(stopped));
    stopping.add(stopped);
  }
  function closeSocket(page: Page, code: number, reason: string): void {
    const socket = sockets.get(page);
    socket?.close(code, reason);
    setTimeout(() => socket?.terminate(), CLOSE_MS).unref();
  }
  function serve(socket: WebSocket, carrier: Socket, token: Token): void {
    const one = keep(token);
    const { principal } = one;
    const page: Page = {
      agent: undefined,
      cwd: undefined,
      send(message) {
        if (socket.readyState !== socket.OPEN) return;
        // What a page does not read piles up here.
        if (socket.bufferedAmount > MAX_UNREAD_BYTES) return closeSocket(page, 1013, 'the page does not read');
        socket.send(JSON.stringify(message));
      },
    };
    socket.on('error', () => {}); // `close` follows
    answerPings(socket);
    boundUnfinished(socket, carrier, bodyLimits(token.name));
    const stopTests = testWhenSilent(socket, carrier, SILENT_MS, () => socket.terminate());
    sockets.set(page, socket);
    clearTimeout(one.grace);
    let openRequests = 0;
    socket.on('message', (data, isBinary) => {
      if (isBinary) return respond(page, 'acp', null, { error: frameErrorOf(refusals.notText(), undefined) });
      if (openRequests >= MAX_OPEN_REQUESTS) {
        const { service, id } = readFrame(String(data));
        return respond(page, service, id, { error: frameErrorOf(refusals.busy(MAX_OPEN_REQUESTS), undefined) });
      }
      openRequests++;
      allOpenRequests++;
      void handle(principal, page, String(data)).finally(() => {
        openRequests--;
        allOpenRequests--;
      });
    });
    socket.once('close', () => {
      stopTests();
      sockets.delete(page);
      principal.remove(page);
      if (principal.pages.size > 0 || kept.get(keyOf(token)) !== one) return;
      one.grace = setTimeout(() => end(keyOf(token), 1001, 'idle'), graceMs);
      one.grace.unref();
    });
    principal.add(page);
  }
  async function handle(principal: Principal, page: Page, text: string): Promise<void> {
    const frame = readFrame(text);
    const { service, id } = frame;
    try {
      if ('refusal' in frame) throw frame.refusal;
      const op = OPS[service].get(frame.op);
      if (!op) throw refusals.unknownOp(frame.op, [...OPS[service].keys()]);
      const { result, after } = await op({ principal, page }, frame.payload, frame.op);
      respond(page, service, id, { result });
      after?.();
    } catch (error) {
      const methods = wantsLogin(error) ? await principal.authMethodsFor(page) : undefined;
      respond(page, service, id, { error: frameErrorOf(error, methods) });
    }
  }

  return {
    roles: ['owner', 'client'],
    handle: (_, response) => refuse(response, { status: 426, why: 'this is a WebSocket; see docs/web-app.md' }),
    upgrade(request, socket, head, token) {
      const pages = kept.get(keyOf(token))?.principal.pages.size ?? 0;
      if (pages >= MAX_PAGES) return refuseUpgrade(socket, { status: 429, why: 'too many open pages' });
      server.handleUpgrade(request, socket, head, (client) => serve(client, socket as Socket, token));
    },
    isBusy: () => allOpenRequests > 0,
    async close() {
      for (const key of [...kept.keys()]) end(key, 1001, 'the server is shutting down');
      await Promise.all(stopping);
      server.close();
    },
  };
}

type Outcome = { readonly result: unknown } | { readonly error: ReturnType<typeof frameErrorOf> };

function respond(page: Page, service: Service, id: FrameId | null, outcome: Outcome): void {
  const type = `${service}_response` as const;
  page.send('error' in outcome ? { type, id, ok: false, error: outcome.error } : { type, id, ok: true, result: outcome.result });
}
