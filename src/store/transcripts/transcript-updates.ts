// Converts a transcript to session updates, as an agent sends them while it loads a session: messages and tool calls, not permission
// requests.
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
      return []; // answers and turn ends concern nobody any more, and the mode may have changed
  }
}

const words = (role: keyof typeof CHUNKS, text: string): Update => ({ sessionUpdate: CHUNKS[role], content: { type: 'text', text } });

/** The transcript does not keep attachments, only their names. */
function named(block: unknown): string {
  const { type, name, uri, mimeType, resource } = (block ?? {}) as Readonly<Record<string, unknown>>;
  const what = name ?? uri ?? (resource as { readonly uri?: unknown } | undefined)?.uri ?? mimeType ?? '';
  return `[${String(type)}${what === '' ? '' : `: ${String(what)}`}]`;
}

/** A tool call that was in progress has not completed; terminals no longer exist. */
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
