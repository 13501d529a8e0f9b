// What becomes of a prompt that arrives while a turn of its session runs.
import { isObject, type JsonObject } from '../json-object.ts';

/** `pass`: the agent decides. `queue`: it waits for the turn. `steer`: it joins the turn. `refuse`: it gets an error. */
export type WhileRunning = 'pass' | 'queue' | 'steer' | 'refuse';

/**
 * `wanted` is the configuration's, `initialized` the agent's answer to initialize. `asked` is the client's wish for one prompt, `steer` or
 * `queue`, which `refuse` does not allow. An agent that queues by itself has its own queue, so that no prompt waits in two.
 */
export function whileRunning(wanted: WhileRunning, initialized: JsonObject | undefined, asked?: string): WhileRunning {
  if (wanted === 'refuse') return 'refuse';
  const isSteering = asked === 'steer' || (wanted === 'steer' && asked !== 'queue');
  if (isSteering && canSteer(initialized)) return 'steer';
  if (wanted === 'pass' && asked !== 'queue') return 'pass';
  return queuesItself(initialized) ? 'pass' : 'queue';
}

/** `_meta.steering.supported` in the answer itself, as claude-agent-acp and codex-acp announce `_session/steering`. */
export function canSteer(initialized: JsonObject | undefined): boolean {
  return objectIn(objectIn(initialized, '_meta'), 'steering')?.supported === true;
}

/** A vendor's entry in `agentCapabilities._meta` with `promptQueueing`. */
function queuesItself(initialized: JsonObject | undefined): boolean {
  const meta = objectIn(objectIn(initialized, 'agentCapabilities'), '_meta') ?? {};
  return Object.values(meta).some((vendor) => isObject(vendor) && vendor.promptQueueing === true);
}

function objectIn(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isObject(value) ? value : undefined;
}
