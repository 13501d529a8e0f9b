// Replaying a session from its transcript.
import { expect, test } from 'vitest';
import { appendLines } from '../../../src/store/append-lines.ts';
import { transcriptFile } from '../../../src/store/transcripts/transcript-files.ts';
import { createTranscriptSource } from '../../../src/store/transcripts/transcript-source.ts';
import { updatesOf } from '../../../src/store/transcripts/transcript-updates.ts';
import { newStateDir, noProblem } from '../state.ts';

const chunk = (kind: string, text: string) => ({ sessionUpdate: `${kind}_chunk`, content: { type: 'text', text } });

test('messages and actions are replayed in order; permission requests are not', () => {
  expect(
    updatesOf([
      { kind: 'opened', sessionId: 's', method: 'session/load' },
      {
        kind: 'prompt',
        text: 'look',
        other: [
          { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
          { type: 'image', mimeType: 'image/png' },
        ],
      },
      { kind: 'message', role: 'thought', text: 'hm' },
      { kind: 'permission', outcome: 'selected' },
      { kind: 'tool', toolCallId: 't', toolKind: 'edit', status: 'completed', content: [{ type: 'terminal', terminalId: 'x' }] },
      { kind: 'mode', modeId: 'code' },
      { kind: 'omitted', bytes: 12 },
      { kind: 'turn', stopReason: 'end_turn' },
    ]),
  ).toEqual([
    chunk('user_message', 'look'),
    chunk('user_message', '[resource_link: a.ts]'),
    chunk('user_message', '[image: image/png]'),
    chunk('agent_thought', 'hm'),
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 't', kind: 'edit', status: 'completed', content: [] },
    chunk('agent_message', '[12 bytes are not in the transcript]\n'),
  ]);
});

test('the end of a long transcript is replayed, with a note that there was more', () => {
  const dir = newStateDir();
  const long = 'x'.repeat(1 << 20);
  for (let n = 0; n < 10; n++)
    appendLines(transcriptFile(dir, 's'), `${JSON.stringify({ t: n, kind: 'message', role: 'agent', text: `${n} ${long}` })}\n`);
  let settled = 0;
  const observer = {
    ...{ settle: () => void settled++, forget: () => {}, promptChanged: () => {} },
    ...{ recordAs: () => {}, recordIdOf: (sessionId: string) => sessionId },
  };
  const source = createTranscriptSource(dir, observer, (text) => text, noProblem);
  const texts = (source.updates('s') ?? []).map(({ content }) => (content as { text: string }).text.slice(0, 6));
  expect(texts).toEqual(['[31458', '3 xxxx', '4 xxxx', '5 xxxx', '6 xxxx', '7 xxxx', '8 xxxx', '9 xxxx']);
  expect(source.updates('unknown')).toBeUndefined();
  expect(settled).toBe(2);
});
