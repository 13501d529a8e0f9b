// `switchboard acp --connect URL`: an editor's stdio on one side, a daemon's /acp on the other. Frames pass as they are. When the daemon goes away,
// each open request gets one error, and the bridge connects again with the next frame.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { connectRemote } from '../../transports/connect-remote.ts';
import { type Remote, shownUrl } from '../../transports/remote.ts';
import type { Exit, Transport } from '../../transports/transport.ts';
import type { Sink, Source } from '../../wire/byte-stream.ts';
import { type Connection, createConnection } from '../../wire/connection.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { refuse, surroundings } from '../resolve-config.ts';

export type ConnectFlags = { readonly connect: string; readonly tokenFile?: string; readonly config?: string | undefined };

export const MAX_FRAME_BYTES = 33_554_432;
const CONNECT_MS = 10_000;
const KEEPALIVE_MS = 30_000;
/** The bridge's own id for initialize on a new connection. No client writes ids like this. */
const OWN_ID = '"switchboard-connect-initialize"';

/** Serves the editor until it disconnects; returns the exit code. */
export function acpConnect(
  { connect, tokenFile, config }: ConnectFlags,
  editor: { readonly input: Source; readonly output: Sink } = { input: process.stdin, output: process.stdout },
): Promise<number> {
  const remote = connect === AUTO ? undefined : remoteOf(connect, tokenOf(tokenFile));
  return new Promise((resolve) => {
    const bridge = createBridge(remote ? () => remote : () => ownDaemon(config), editor, () => resolve(0));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bridge.stop().then(() => resolve(0)));
  });
}

/** The daemon of this user, which is started if none runs. */
export const AUTO = 'auto';

async function ownDaemon(config: string | undefined): Promise<Remote> {
  const [{ ensureDaemon }, { localToken }] = await Promise.all([
    import('../running-daemon/background.ts'),
    import('../running-daemon/local-token.ts'),
  ]);
  const { stateDir } = surroundings({});
  const args = ['--no-console', ...(config === undefined ? [] : ['--config', path.resolve(config)])];
  const { daemon, isNew } = await ensureDaemon(stateDir, args);
  if (isNew) notice(`started the daemon, process ${daemon.pid}; to stop it, run: switchboard serve stop`);
  return remoteOf(daemon.address, localToken(stateDir));
}

type Bridge = { stop(): Promise<void> };

/** `find`: where the daemon is now. */
function createBridge(
  find: () => Remote | Promise<Remote>,
  { input, output }: { readonly input: Source; readonly output: Sink },
  ended: () => void,
): Bridge {
  const scanner = new Scanner();
  let address = '';
  /** Open requests of the editor, and of the daemon, by id. */
  const fromEditor = new Set<string>();
  const fromDaemon = new Set<string>();
  let initialize: Frame | undefined;
  let transport: Transport | undefined;
  let daemon: Connection | undefined;
  /** Frames that wait for the daemon's answer to the bridge's own initialize; undefined while there is none. */
  let held: Frame[] | undefined;
  /** Frames that wait for a daemon to start; undefined while there is none. */
  let early: Frame[] | undefined;
  let isOver = false;

  const editor = createConnection(
    input,
    output,
    { scanner, maxFrameBytes: MAX_FRAME_BYTES },
    {
      frame: (frame) => toDaemon(frame),
      refused: ({ idText }) => editor.writer.line(errorLine(idText ?? 'null', -32700, 'Parse error')),
      oversized: ({ idText }) => editor.writer.line(errorLine(idText ?? 'null', -32600, `The frame exceeds ${MAX_FRAME_BYTES} bytes`)),
      end: () => void stop().then(ended),
      full: () => daemon?.pause(),
      drain: () => daemon?.resume(),
    },
  );

  function toDaemon(frame: Frame): void {
    if (frame.kind === 'request') fromEditor.add(idTextOf(frame));
    if (frame.kind === 'response' && !fromDaemon.delete(idTextOf(frame))) return; // the daemon that asked is gone
    const isFirst = frame.method === 'initialize' && frame.kind === 'request';
    if (isFirst) initialize = detach(frame);
    if (early) return void early.push(detach(frame));
    if (!daemon) {
      const found = find();
      if (found instanceof Promise) {
        early = [detach(frame)];
        void found.then((remote) => started(remote, isFirst), unstartable);
        return;
      }
      open(found, isFirst);
    }
    pass(frame);
  }
  function pass(frame: Frame): void {
    if (held) held.push(detach(frame));
    else daemon?.writer.frame(frame);
  }
  function started(remote: Remote, isFirst: boolean): void {
    const waiting = early ?? [];
    early = undefined;
    if (isOver) return;
    open(remote, isFirst);
    for (const frame of waiting) pass(frame);
  }
  function unstartable(error: Error): void {
    early = undefined;
    const hint = error instanceof CommandFailure && error.hint !== undefined ? `. ${error.hint}` : '';
    failAll(`${error.message}${hint}`, 'unstartable');
  }

  /** A new connection begins with the editor's initialize, also when the editor has sent it before. */
  function open(remote: Remote, isFirst: boolean): void {
    address = shownUrl(remote.url);
    const opened = connectRemote(remote, { maxFrameBytes: MAX_FRAME_BYTES });
    transport = opened;
    daemon = createConnection(
      opened.fromAgent,
      opened.toAgent,
      { scanner, maxFrameBytes: MAX_FRAME_BYTES },
      {
        frame: (frame) => toEditor(frame),
        refused: () => {},
        oversized: ({ idText, kind }) => {
          if (kind === 'response' && idText !== undefined && fromEditor.delete(idText))
            editor.writer.line(errorLine(idText, -32603, `The answer exceeds ${MAX_FRAME_BYTES} bytes`));
        },
        end: () => {}, // the exit says why
        full: () => editor.pause(),
        drain: () => editor.resume(),
      },
    );
    opened.onExit((exit) => lost(opened, exit));
    if (isFirst || !initialize) return;
    held = [];
    const { bytes, body } = initialize;
    const params = body ? bytes.toString('utf8', body.start, body.end) : '{"protocolVersion":1}';
    daemon.writer.line(`{"jsonrpc":"2.0","id":${OWN_ID},"method":"initialize","params":${params}}\n`);
  }

  function toEditor(frame: Frame): void {
    if (frame.kind === 'request') fromDaemon.add(idTextOf(frame));
    if (frame.kind !== 'response') return editor.writer.frame(frame);
    const idText = idTextOf(frame);
    if (idText === OWN_ID) {
      const waiting = held ?? [];
      held = undefined;
      for (const one of waiting) daemon?.writer.frame(one);
    } else if (fromEditor.delete(idText)) editor.writer.frame(frame);
  }

  function lost(which: Transport, exit: Exit): void {
    if (transport !== which) return;
    transport = undefined;
    daemon = undefined;
    held = undefined;
    if (isOver) return;
    editor.resume(); // it may have waited for this daemon
    const why = exit.kind === 'exited' ? 'it exited' : exit.why;
    const next = exit.kind === 'unreachable' ? (exit.next ?? '') : 'The next request connects again.';
    const message =
      exit.kind === 'unreachable'
        ? `Cannot reach the switchboard daemon at ${address}: ${why}`
        : `The switchboard daemon at ${address} went away: ${why}`;
    failAll(`${message}. ${next}`, exit.kind);
    for (const idText of fromDaemon) editor.writer.line(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${idText}}}\n`);
    fromDaemon.clear();
  }
  /** Each open request of the editor gets one error. */
  function failAll(message: string, reason: string): void {
    notice(message);
    for (const idText of fromEditor) editor.writer.line(errorLine(idText, -32603, message, reason));
    fromEditor.clear();
  }
  async function stop(): Promise<void> {
    isOver = true;
    await transport?.stop();
  }
  return { stop };
}

function errorLine(idText: string, code: number, message: string, reason?: string): string {
  const data = reason === undefined ? '' : `,"data":${JSON.stringify({ reason: `daemon_${reason}`, retryable: true })}`;
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":${code},"message":${JSON.stringify(message)}${data}}}\n`;
}

/** The daemon's address for a WebSocket: `http:` and `ws:` are the same place; without a path, it is `/acp`. */
export function daemonUrl(given: string): string {
  let url: URL;
  try {
    url = new URL(given.includes('://') ? given : `ws://${given}`);
  } catch {
    throw new CommandFailure(
      2,
      `invalid address "${given}"`,
      'use the address that switchboard serve prints, such as ws://127.0.0.1:8137/acp',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '')
    throw new CommandFailure(
      2,
      'the address must not contain credentials',
      'put the token into SWITCHBOARD_TOKEN, or use --token-file FILE',
    );
  url.protocol = url.protocol.replace('http', 'ws');
  if (url.pathname === '/') url.pathname = '/acp';
  return url.href;
}

export function remoteOf(given: string, token: string): Remote {
  return {
    url: daemonUrl(given),
    headers: { authorization: `Bearer ${token}` },
    tls: {},
    connectMs: CONNECT_MS,
    keepaliveMs: KEEPALIVE_MS,
    configKey: '--connect',
    advice: {
      address: 'Check the address after --connect, and that switchboard serve is running there',
      credentials:
        'Check the token in SWITCHBOARD_TOKEN or --token-file; where the daemon runs, switchboard token list shows which are valid',
    },
  };
}

function tokenOf(file: string | undefined): string {
  const text = file === undefined ? process.env.SWITCHBOARD_TOKEN : read(file);
  const token = text?.trim();
  if (token !== undefined && token !== '') return token;
  throw new CommandFailure(
    2,
    file === undefined ? 'the daemon wants a token, and SWITCHBOARD_TOKEN is not set' : `${file} is empty`,
    'create one where the daemon runs: switchboard token create NAME --role client',
  );
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return refuse('the token', file, error);
  }
}
