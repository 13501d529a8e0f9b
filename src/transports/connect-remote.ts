// A remote agent: its streams exist at once, and what is written to them goes out when the connection opens.
import { type OpenStreams, pendingStreams } from './pending-streams.ts';
import { type Remote, tlsOptions, whyUnreachable } from './remote.ts';
import { type Exit, onceExited, type Transport } from './transport.ts';

export type ConnectorEvents = {
  opened(streams: OpenStreams): void;
  /** It could not be opened, or it ended. */
  over(exit: Exit): void;
};

/** `stop` resolves when nothing of the connection is left. */
export type Connector = { stop(): Promise<void>; kill(): void };

export type ConnectLimits = { readonly maxFrameBytes: number };

/** Loads the transport that the address names when it is first used. */
async function connectorOf({ url }: Remote): Promise<typeof import('./websocket.ts').openWebSocket> {
  if (/^wss?:/.test(url)) return (await import('./websocket.ts')).openWebSocket;
  return (await import('./http-client.ts')).openHttp;
}

export function connectRemote(remote: Remote, limits: ConnectLimits): Transport {
  const exit = onceExited();
  const streams = pendingStreams();
  let connector: Connector | undefined;
  let isKilled = false;
  let opened = () => {};
  // Not in the middle of a `kill` or a write: its caller may be passing frames on that come before the end.
  const over = (how: Exit) =>
    queueMicrotask(() => {
      streams.ended();
      exit.happened(how);
    });
  const opening = connectorOf(remote)
    .then((open) => {
      const tls = tlsOptions(remote);
      if (isKilled) return over({ kind: 'disconnected', why: 'it was closed here' });
      if ('why' in tls) return over({ kind: 'unreachable', ...tls });
      const streamsOpen = (open: OpenStreams) => {
        opened();
        streams.open(open);
      };
      connector = open(remote, tls, limits, { opened: streamsOpen, over });
    })
    // Also for an address or a header that cannot be sent.
    .catch((error: Error) => over({ kind: 'unreachable', ...whyUnreachable(error, remote) }));
  return {
    fromAgent: streams.source,
    toAgent: streams.sink,
    pid: undefined,
    stderrTail: () => [],
    onExit: exit.listen,
    onOpen(listener) {
      opened = listener;
    },
    async stop() {
      isKilled = true;
      await opening;
      await connector?.stop();
    },
    kill() {
      isKilled = true;
      connector?.kill();
    },
  };
}
