// Rebuilds a conversation from its transcript.
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';
import type { Event } from '../protocol/conversation.ts';
import { cleanValue } from './clean-text.ts';
import { blockOf, eventOf, isPlaceholder, list, shown, text, toolOf } from './read-update.ts';

export type Transcript = readonly TranscriptRecord[];

/** Transcripts hold no secrets, but may contain deceptive characters. */
const asWritten = (value: string): string => value;

export function eventsOfTranscript(records: Transcript): readonly Event[] {
  return records.flatMap((record) => eventsOf(cleanValue(record, asWritten) as TranscriptRecord));
}

function eventsOf(record: TranscriptRecord): Event[] {
  switch (record.kind) {
    case 'prompt':
      return [{ e: 'prompt', text: record.text, blocks: list(record.other).map(blockOf), at: record.t }];
    case 'message':
      return isPlaceholder(record) ? [] : [{ e: 'text', role: record.role, text: record.text, at: record.t }];
    case 'block':
      return [{ e: 'block', role: record.role, block: blockOf(record.content), at: record.t }];
    case 'tool': {
      const { toolKind, ...call } = record;
      return [{ e: 'tool', ...toolOf({ ...call, kind: toolKind }) }];
    }
    case 'plan': {
      const event = eventOf({ sessionUpdate: 'plan', entries: record.entries });
      return event ? [event] : [];
    }
    case 'permission':
      return [{ e: 'decision', title: text(record.title) ?? '', outcome: shown(record.option) ?? record.outcome, by: 'then' }];
    case 'turn':
      return [{ e: 'end', stopReason: text(record.stopReason), error: record.error, at: record.t }];
    case 'omitted':
      return [{ e: 'note', text: `${record.bytes} bytes omitted` }];
    default:
      return [];
  }
}
