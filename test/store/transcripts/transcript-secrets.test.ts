// Transcripts with the real redactor: the encoding of a text does not change what is redacted.
import { expect, test } from 'vitest';
import { createSecrets } from '../../../src/redaction/redact.ts';
import { redactJson } from '../../../src/redaction/redact-json.ts';
import { createPieceCleaner } from '../../../src/redaction/redact-pieces.ts';
import { createRedactStream } from '../../../src/redaction/redact-stream.ts';
import { compileUserPattern } from '../../../src/redaction/user-patterns.ts';
import { readTranscript } from '../../../src/store/transcripts/transcript-files.ts';
import { createTranscriptObserver } from '../../../src/store/transcripts/transcript-observer.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { newStateDir, noProblem } from '../state.ts';

const scanner = new Scanner();

const secrets = createSecrets([compileUserPattern('\\bINT-\\d{6}\\b')]);
secrets.add('KNOWN', 'a-secret-of-some-length');
const clean = {
  json: (value: unknown) => redactJson(value, secrets.redact),
  text: secrets.redact,
  stream: () => createRedactStream(secrets),
  pieces: () => createPieceCleaner(secrets),
  longest: secrets.longest,
};

function frameOf(message: object): Frame {
  const frame = scanner.scan(Buffer.from(`${JSON.stringify(message)}\n`), 0);
  if (!frame) throw new Error('no frame');
  return frame;
}

/** The transcript of a prompt and of a message with the same text. */
function written(text: string, more: object): readonly unknown[] {
  const dir = newStateDir();
  const observer = createTranscriptObserver({ dir, clean, now: () => 1, onProblem: noProblem });
  const content = { type: 'text', text, ...more };
  observer.received?.(frameOf({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: 's', prompt: [content] } }));
  const update = { sessionUpdate: 'agent_message_chunk', content };
  observer.sent?.(frameOf({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } }), []);
  observer.sent?.(frameOf({ jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } }), []);
  observer.close();
  return readTranscript(dir, 's') ?? [];
}

const HIDDEN = {
  'a variable': ['DB_PASSWORD=hunter2-xyz9', 'hunter2'],
  'an option': ['--token abcd1234efgh', 'abcd1234'],
  'the rest of a key': ['ghp_abcd1234efgh5678', '5678'],
  'a known secret': ['a-secret-of-some-length', 'some-length'],
  'a pattern of the user': ['INT-123456', '123456'],
};
const BEFORE = {
  'at the beginning': '',
  'behind a line': 'x\n',
  'behind a tab': 'x\t',
  'behind a backslash': 'x \\\n',
  'in quotes': 'x "',
};

test.each(
  Object.entries(HIDDEN).flatMap(([what, [secret, inside]]) =>
    Object.entries(BEFORE).map(([where, before]) => ({ what, where, text: before + secret, inside: inside as string })),
  ),
)('$what $where is in no transcript, however the frame was encoded', ({ text, inside }) => {
  const plain = written(text, {});
  expect(JSON.stringify(plain)).not.toContain(inside);
  expect(plain).toEqual(written(text, { _meta: {} }));
});
