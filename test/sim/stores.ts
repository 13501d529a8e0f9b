// The proxy's stores, in memory.
import type { CapabilityCache } from '../../src/store/capability-cache.ts';
import type { SessionRecord, SessionStore } from '../../src/store/sessions/session-store.ts';

export function createMemoryLog(): SessionStore {
  const records = new Map<string, SessionRecord>();
  const hidden = new Set<string>();
  const used = new Set<string>();
  const nativeKey = (agent: string, nativeId: string) => `${agent}\n${nativeId}`;
  const isHidden = (agent: string, nativeId: string) => hidden.has(nativeKey(agent, nativeId));
  function append(record: SessionRecord): void {
    const key = nativeKey(record.agent, record.nativeId);
    const kept = records.get(record.sessionId);
    used.add(record.sessionId);
    if (!record.isGone) {
      hidden.delete(key);
      records.delete(record.sessionId);
      records.set(record.sessionId, record);
      return;
    }
    if (kept && nativeKey(kept.agent, kept.nativeId) === key) records.delete(record.sessionId);
    if (![...records.values()].some((one) => nativeKey(one.agent, one.nativeId) === key)) hidden.add(key);
  }
  return {
    append,
    claim(record) {
      if (used.has(record.sessionId)) return false;
      append(record);
      return true;
    },
    isUsed: (sessionId) => used.has(sessionId),
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
