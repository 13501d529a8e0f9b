// A transcript as updates of its session, as if an agent told it again while it loads: what was said and done, not how it was asked for.
import type { Entry, ToolRecord } from './transcript-record.ts';

export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>;

const CHUNKS = { agent: 'agent_message_chunk', thought: 'agent_thought_chunk', user: 'user_message_chunk' } as const;

export function updatesOf(transcript: readonly Entry[]): readonly Update[] {
  return transcript.flatMap(updatesOfOne);
}

function updatesOfOne(entry: Entry): readonly Update[] {
  switch (entry.kind) {
    case 'prompt':
      return [
        ...(entry.text === '' ? [] : [words('user', entry.text)]),
        ...(entry.other ?? []).map((block) => words('user', named(block))),
      ];
    case 'message':
      return [words(entry.role, entry.text)];
    case 'block':
      return [{ sessionUpdate: CHUNKS[entry.role], content: entry.content }];
    case 'tool':
      return [toolCall(entry)];
    case 'plan':
      return [{ sessionUpdate: 'plan', entries: entry.entries }];
    case 'title':
      return [{ sessionUpdate: 'session_info_update', title: entry.title }];
    case 'omitted':
      return [words('agent', `[${entry.bytes} bytes are not in the transcript]\n`)];
    default:
      return []; // answers to questions, ends of turns: nobody waits for them any more; and the mode is what it is now
  }
}

const words = (role: keyof typeof CHUNKS, text: string): Update => ({ sessionUpdate: CHUNKS[role], content: { type: 'text', text } });

/** What went with a prompt is not kept, only that it did. */
function named(block: unknown): string {
  const { type, name, uri, mimeType, resource } = (block ?? {}) as Readonly<Record<string, unknown>>;
  const what = name ?? uri ?? (resource as { readonly uri?: unknown } | undefined)?.uri ?? mimeType ?? '';
  return `[${String(type)}${what === '' ? '' : `: ${String(what)}`}]`;
}

/** Whatever was still under way then has not come to an end; and the terminals are gone. */
function toolCall({ toolCallId, title, toolKind, status, content, locations, rawInput, rawOutput }: ToolRecord): Update {
  const shown = Array.isArray(content)
    ? content.filter((one) => (one as { readonly type?: unknown } | null)?.type !== 'terminal')
    : undefined;
  const given = { kind: toolKind, content: shown, locations, rawInput, rawOutput };
  return {
    ...{ sessionUpdate: 'tool_call', toolCallId, title: typeof title === 'string' ? title : toolCallId },
    status: status === 'completed' ? status : 'failed',
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}
