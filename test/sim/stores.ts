// The proxy's stores, in memory.
import type { CapabilityCache } from '../../src/store/capability-cache.ts';
import type { SessionLog, SessionRecord } from '../../src/store/sessions/session-store.ts';

export function createMemoryLog(): SessionLog {
  const records = new Map<string, SessionRecord>();
  const hidden = new Set<string>();
  const nativeKey = (agent: string, nativeId: string) => `${agent}\n${nativeId}`;
  const isHidden = (agent: string, nativeId: string) => hidden.has(nativeKey(agent, nativeId));
  return {
    append(record) {
      const key = nativeKey(record.agent, record.nativeId);
      const kept = records.get(record.sessionId);
      if (!record.isGone) {
        hidden.delete(key);
        records.delete(record.sessionId);
        records.set(record.sessionId, record);
        return;
      }
      hidden.add(key);
      if (kept && nativeKey(kept.agent, kept.nativeId) === key) records.delete(record.sessionId);
    },
    records: () => records,
    isHidden,
    wasHiddenLately: isHidden,
  };
}

export function createMemoryCache(): CapabilityCache {
  const entries = new Map<string, string | undefined>();
  return {
    find: (key) => (entries.has(key) ? { text: entries.get(key) } : undefined),
    keep: (key, { text }) => void entries.set(key, text),
  };
}
