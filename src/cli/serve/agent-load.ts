// What the processes of agents use, looked up when somebody wants to see it.
import type { AgentLoad } from '../../console/protocol/agents.ts';
import { usageOf } from '../../processes/usage.ts';
import type { Connection } from '../../proxy/proxy.ts';

/** A share of the processor lies between two looks; older than this, the earlier one says nothing about now. */
const OLDEST_MS = 30_000;

export function agentLoads(connection: Pick<Connection, 'health'>, nowMs = () => performance.now()): () => readonly AgentLoad[] {
  let before = new Map<number, { readonly cpuMs: number; readonly atMs: number }>();
  return () => {
    const pids = Object.entries(connection.health()).flatMap(([id, { pid }]) => (pid === undefined ? [] : [{ id, pid }]));
    const usage = usageOf(pids.map(({ pid }) => pid));
    const atMs = nowMs();
    const seen = new Map<number, { readonly cpuMs: number; readonly atMs: number }>();
    const loads = pids.flatMap(({ id, pid }) => {
      const its = usage.get(pid);
      if (!its) return [];
      const { processes, memoryBytes, cpuMs } = its;
      const last = before.get(pid);
      seen.set(pid, { cpuMs, atMs });
      const sinceMs = last === undefined ? 0 : atMs - last.atMs;
      const isRecent = last !== undefined && sinceMs > 0 && sinceMs < OLDEST_MS;
      // A child that ended takes its time with it, so there may be less than before.
      const cpu = isRecent ? Math.max(0, Math.round(((cpuMs - last.cpuMs) / sinceMs) * 100)) : undefined;
      return [{ id, processes, memoryBytes, cpuPercent: cpu }];
    });
    before = seen;
    return loads;
  };
}
