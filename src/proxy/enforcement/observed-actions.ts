// What is known of each tool call of a session: agents tell of a call in pieces, and some ask about it by nothing but its id.
import { list, mergeToolCall, record, type ToolCall } from '../../policy/actions/tool-call.ts';
import type { Session } from '../sessions/session.ts';

const MAX_CALLS = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

export type Known = {
  call: ToolCall;
  bytes: number;
  /** What the agent was told when it asked. */
  answer: 'allow' | 'deny' | undefined;
  /** What was reported of it last. */
  reported: string | undefined;
};

export type KnownCalls = {
  /** One more message about a call. A `tool_call` begins it anew: ids come again, and what was said before is said of another call. */
  note(session: Session, toolCallId: string, update: unknown, bytes: number): Known;
  /** A message about it that parsers read differently: nothing that is known of it can be relied on. */
  doubt(session: Session, toolCallId: string): void;
  /** The agent asks about a call: what is known of it. */
  asked(session: Session, toolCallId: string): Known;
  forget(session: Session, toolCallId: string): void;
};

export function createKnownCalls(): KnownCalls {
  const bySession = new WeakMap<Session, { readonly calls: Map<string, Known>; bytes: number }>();
  const of = (session: Session) => {
    const found = bySession.get(session) ?? { calls: new Map<string, Known>(), bytes: 0 };
    bySession.set(session, found);
    return found;
  };
  function drop(table: ReturnType<typeof of>, toolCallId: string): void {
    table.bytes -= table.calls.get(toolCallId)?.bytes ?? 0;
    table.calls.delete(toolCallId);
  }
  function entry(session: Session, toolCallId: string, bytes: number): Known {
    const table = of(session);
    // The oldest go first; a call that nobody knows any more is asked about, and never allowed unseen.
    for (const [oldest] of table.calls) {
      if (table.calls.size < MAX_CALLS && table.bytes + bytes <= MAX_BYTES) break;
      drop(table, oldest);
    }
    const known = table.calls.get(toolCallId) ?? { call: {}, bytes: 0, answer: undefined, reported: undefined };
    table.calls.set(toolCallId, known);
    known.bytes += bytes;
    table.bytes += bytes;
    return known;
  }
  return {
    note(session, toolCallId, update, bytes) {
      const isBeginning = record(update).sessionUpdate === 'tool_call';
      const reported = of(session).calls.get(toolCallId)?.reported;
      if (isBeginning) drop(of(session), toolCallId);
      // Updates that bring no input cost nothing to keep.
      const known = entry(session, toolCallId, record(update).rawInput === undefined ? 0 : bytes);
      known.call = mergeToolCall(known.call, slim(update));
      known.reported = reported;
      return known;
    },
    doubt: (session, toolCallId) => drop(of(session), toolCallId),
    asked: (session, toolCallId) => entry(session, toolCallId, 0),
    forget: (session, toolCallId) => drop(of(session), toolCallId),
  };
}

/** Of its content only which files it changes: the texts themselves decide nothing, and are large. */
function slim(update: unknown): unknown {
  const { content, ...rest } = record(update);
  if (content === undefined) return rest;
  const diffs = list(content).flatMap((entry) => {
    const { type, path } = record(entry);
    return type === 'diff' ? [{ type, path }] : [];
  });
  return { ...rest, content: diffs };
}
