// Our transports as the reader and the writer of a vscode-jsonrpc connection.
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Message,
  type MessageReader,
  type MessageStrategy,
  type MessageWriter,
} from 'vscode-jsonrpc/node';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { createConnection } from '../wire/connection.ts';
import type { Frame } from '../wire/frame.ts';
import { Scanner } from '../wire/scanner/scanner.ts';

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

export type MessageTransport = {
  readonly reader: MessageReader & { close(): void };
  readonly writer: MessageWriter;
  readonly strategy: MessageStrategy;
};

export function createMessageTransport(
  input: Source,
  output: Sink,
  onLine?: (direction: 'sent' | 'received', line: string) => void,
): MessageTransport {
  let receive: DataCallback = () => {};
  let isClosed = false;
  const connection = createConnection(
    input,
    output,
    { scanner: new Scanner(), maxFrameBytes: MAX_FRAME_BYTES },
    {
      frame(frame) {
        const line = frame.bytes.toString('utf8', frame.start, frame.end);
        onLine?.('received', line);
        const message = messageOf(frame, line);
        if (message !== undefined) receive(message);
      },
      refused: () => {},
      oversized: () => {},
      end,
      error: end,
    },
  );
  // vscode-jsonrpc handles one message per turn of the event loop. The end goes through its queue as well, after the last message.
  const theEnd: Message = { jsonrpc: '2.0' };
  function end(): void {
    if (!isClosed) receive(theEnd);
  }

  class Reader extends AbstractMessageReader {
    listen(callback: DataCallback) {
      receive = callback;
      return { dispose() {} };
    }
    close(): void {
      if (isClosed) return;
      isClosed = true;
      receive = () => {};
      this.fireClose();
    }
  }
  class Writer extends AbstractMessageWriter {
    async write(message: Message): Promise<void> {
      if (isClosed) return;
      const line = JSON.stringify(message);
      onLine?.('sent', line);
      connection.writer.line(`${line}\n`);
    }
    end(): void {
      connection.writer.end();
    }
  }
  const reader = new Reader();
  const strategy: MessageStrategy = {
    handleMessage: (message, next) => (message === theEnd ? reader.close() : next(message)),
  };
  return { reader, writer: new Writer(), strategy };
}

/** The cancellation of the language server protocol, which vscode-jsonrpc handles itself, and throws on without params. */
const LSP_CANCEL = '$/cancelRequest';

function messageOf({ kind, method }: Frame, line: string): Message | undefined {
  if (method === LSP_CANCEL) return undefined;
  const message = JSON.parse(line);
  // vscode-jsonrpc does not take this for a response.
  if (kind === 'response' && message.result === undefined && !message.error) message.result = null;
  return message;
}
