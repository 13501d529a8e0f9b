// What is kept of a session: enough to list it, load it with its conversation, or resume it in another process.
import { randomUUID } from 'node:crypto';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import type { Persona } from './agents.ts';

export const sessionRecordSchema = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  updatedAt: z.string(),
  modeId: z.string(),
  configValues: z.record(z.string(), z.string()),
  turns: z.number(),
  /** The conversation as the updates that told it, which is also how `session/load` tells it again. */
  transcript: z.array(z.custom<SessionUpdate>((update) => typeof update === 'object' && update !== null)),
});

export type SessionRecord = z.infer<typeof sessionRecordSchema>;

export function newSessionRecord(persona: Persona, cwd: string): SessionRecord {
  return {
    sessionId: `${persona.name}-${randomUUID()}`,
    cwd,
    title: null,
    updatedAt: new Date().toISOString(),
    modeId: persona.modes[0].id,
    configValues: Object.fromEntries(persona.configOptions.map((option) => [option.id, option.options[0]?.value ?? ''])),
    turns: 0,
    transcript: [],
  };
}

/** Adds an update to the conversation. Chunks of one message become one, so that a long stream is not kept word by word. */
export function addToTranscript(transcript: SessionUpdate[], update: SessionUpdate): void {
  const last = transcript.at(-1);
  const before = last?.sessionUpdate === update.sessionUpdate ? spokenText(last) : undefined;
  const added = spokenText(update);
  if (before === undefined || added === undefined) transcript.push(update);
  else transcript[transcript.length - 1] = { ...update, content: { type: 'text', text: before + added } } as SessionUpdate;
}

function spokenText(update: SessionUpdate): string | undefined {
  const spoken = update.sessionUpdate === 'agent_message_chunk' || update.sessionUpdate === 'agent_thought_chunk';
  return spoken && update.content.type === 'text' ? update.content.text : undefined;
}
