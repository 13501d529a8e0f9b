// Consecutive chunks of one message become one line: a secret may begin in one chunk and end in the next.

import type { Secrets } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import { createPieceCleaner } from '../../redaction/redact-pieces.ts';
import { createRedactStream, type RedactStream } from '../../redaction/redact-stream.ts';
import type { Frame } from '../../wire/frame.ts';
import { stringAt } from '../../wire/json-path.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A join in progress: the first chunk, and the text so far. */
type Open = {
  readonly connection: string;
  readonly kind: string;
  readonly messageId: unknown;
  readonly head: string;
  readonly message: Fields;
  readonly stream: RedactStream;
  chunks: number;
};

export type ChunkJoiner = {
  /** Adds a frame with the part of its line before the payload; returns the finished lines. */
  next(connection: string, head: string, text: string, frame: Frame): string;
  endAll(): readonly string[];
};

const CHUNK = /^(?:agent_message|agent_thought|user_message)_chunk$/;

export function createChunkJoiner(secrets: Secrets): ChunkJoiner {
  const open = new Map<string, Open>();
  const pieces = createPieceCleaner(secrets);

  function line({ head, message, chunks }: Open, text: string): string {
    const { params } = message as { params: { update: { content: Fields } } };
    const update = { ...params.update, content: { ...params.update.content, text: '' } };
    const clean = redactJson({ ...message, params: { ...params, update } }, secrets.redact) as typeof message;
    const withText = clean as { params: { update: { content: { text: string } } } };
    return `${head},"chunks":${chunks},"msg":${JSON.stringify({ ...clean, params: { ...withText.params, update: { ...withText.params.update, content: { ...withText.params.update.content, text } } } })}}\n`;
  }
  function end(key: string): string {
    const ended = open.get(key);
    if (!ended) return '';
    open.delete(key);
    return ended.chunks === 0 ? '' : line(ended, ended.stream.end());
  }
  function endAll(connection?: string): readonly string[] {
    const ending = [...open].filter(([, one]) => connection === undefined || one.connection === connection);
    return ending.map(([key]) => end(key)).filter((text) => text !== '');
  }

  return {
    next(connection, head, text, frame) {
      const key = `${connection}\n${stringAt(frame.bytes, frame.sessionId) ?? ''}`;
      const chunk = frame.method === 'session/update' ? chunkOf(text) : undefined;
      const current = open.get(key);
      if (chunk && current?.kind === chunk.kind && current.messageId === chunk.messageId) {
        current.chunks++;
        const sure = current.stream.push(chunk.text);
        if (sure === '') return '';
        const part = line(current, sure);
        current.chunks = 0;
        return part;
      }
      // Without a session id, it may end any turn of this connection.
      const before = frame.sessionId === undefined ? endAll(connection).join('') : end(key);
      if (!chunk)
        return `${before}${head},"msg":${JSON.stringify(redactJson(pieces.message(connection, JSON.parse(text)), secrets.redact))}}\n`;
      const stream = createRedactStream(secrets);
      stream.push(chunk.text);
      open.set(key, { connection, kind: chunk.kind, messageId: chunk.messageId, head, message: chunk.message, stream, chunks: 1 });
      return before;
    },
    endAll,
  };
}

/** A chunk of text; undefined for anything else. */
function chunkOf(text: string): { kind: string; messageId: unknown; text: string; message: Fields } | undefined {
  const message = JSON.parse(text);
  const { sessionUpdate: kind, content, messageId } = message.params?.update ?? {};
  const isText = CHUNK.test(kind) && content?.type === 'text' && typeof content.text === 'string';
  return isText ? { kind, messageId, text: content.text, message } : undefined;
}
