// Messages of a connection's streams, so that a client that lost one reads on from `Last-Event-ID`. The oldest are dropped.
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

const MOST_EVENTS = 4096;
const MOST_BYTES = 16 * 1024 * 1024;

type Stored = { readonly streamId: string; readonly message: JSONRPCMessage; readonly bytes: number };

export function createEventStore(): EventStore {
  const events = new Map<string, Stored>();
  let next = 0;
  let bytes = 0;

  function drop(): void {
    for (const [id, stored] of events) {
      if (events.size <= MOST_EVENTS && bytes <= MOST_BYTES) return;
      events.delete(id);
      bytes -= stored.bytes;
    }
  }
  return {
    async storeEvent(streamId, message) {
      const id = `${streamId}_${next++}`;
      const size = JSON.stringify(message).length;
      events.set(id, { streamId, message, bytes: size });
      bytes += size;
      drop();
      return id;
    },
    getStreamIdForEventId: async (eventId) =>
      events.get(eventId)?.streamId ?? (eventId.includes('_') ? eventId.slice(0, eventId.lastIndexOf('_')) : undefined),
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = lastEventId.slice(0, lastEventId.lastIndexOf('_'));
      const after = Number(lastEventId.slice(lastEventId.lastIndexOf('_') + 1));
      for (const [id, stored] of [...events])
        if (stored.streamId === streamId && Number(id.slice(id.lastIndexOf('_') + 1)) > after) await send(id, stored.message);
      return streamId;
    },
  };
}
