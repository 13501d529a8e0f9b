// Counts events. Whatever a peer can choose is reduced to known words first: labels have few values.
import { FROM_AGENT, FROM_CLIENT } from '../../acp/methods.ts';
import type { EventOfConnection, Usage } from '../events.ts';
import { OTHER, type Registry } from './registry.ts';

const TOKEN_KINDS: Readonly<Record<keyof Usage, string>> = {
  inputTokens: 'input',
  outputTokens: 'output',
  cachedReadTokens: 'cached_read',
  cachedWriteTokens: 'cached_write',
};
const CURRENCY = /^[A-Z]{3}$/;
const STOP_REASONS = new Set(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']);
const METHODS = new Set(Object.keys({ ...FROM_CLIENT, ...FROM_AGENT }));
/** Words of this program: reasons of failures and surfaces of the policy. */
const OWN_WORD = /^[a-z][a-z_/-]{0,39}$/;

/** The method, if the protocol has it. */
export const knownMethod = (method: string): string => (METHODS.has(method) ? method : OTHER);
export const knownStopReason = (reason: string): string => (STOP_REASONS.has(reason) ? reason : OTHER);
export const ownWord = (word: string): string => {
  const lower = word.toLowerCase();
  return OWN_WORD.test(lower) ? lower : OTHER;
};

/** An event of no known agent. */
const UNKNOWN = 'unknown';

export function countEvents(registry: Registry): (event: EventOfConnection) => void {
  const { add, observe } = registry;
  const failed = new Set<string>();
  registry.series('queueLength', 'permissions').value = 0;
  return (event) => {
    const agent = ('agent' in event ? event.agent : undefined) ?? UNKNOWN;
    switch (event.type) {
      case 'answer': {
        const isError = event.error !== undefined;
        add('requests', [knownMethod(event.method), isError ? 'error' : 'ok']);
        if (event.method !== 'session/prompt') return;
        add('turns', [agent, isError ? 'error' : knownStopReason(event.stopReason ?? '')]);
        for (const [name, tokens] of Object.entries(event.usage ?? {})) add('tokens', [agent, TOKEN_KINDS[name as keyof Usage]], tokens);
        return observe('turnSeconds', [agent], event.tookMs / 1000);
      }
      case 'cost':
        return add('cost', [agent, CURRENCY.test(event.currency) ? event.currency : OTHER], event.amount);
      case 'first-update':
        return observe('firstUpdateSeconds', [agent], event.afterMs / 1000);
      case 'abandoned':
        if (event.method === 'session/prompt') add('turns', [agent, 'abandoned']);
        return;
      case 'permission':
        return add('queueLength', ['permissions'], 1);
      case 'permission-end':
        add('queueLength', ['permissions'], -1);
        return observe('permissionSeconds', [agent, event.outcome], event.waitedMs / 1000);
      case 'delegation-end':
        return add('delegations', [agent, event.stopReason === undefined ? 'error' : knownStopReason(event.stopReason)]);
      case 'agent-start':
        add('agentStarts', [agent]);
        if (failed.delete(agent)) add('agentRestarts', [agent]);
        return;
      case 'agent-ready':
        return observe('agentStartSeconds', [agent], event.tookMs / 1000);
      case 'agent-failed':
        failed.add(agent);
        return add('agentFailures', [agent, ownWord(event.reason)]);
      case 'decision':
        return add('decisions', [ownWord(event.surface), event.verdict, event.outcome], event.count);
      case 'tool-end':
        return add('toolCalls', [agent, event.outcome]);
      default:
    }
  };
}
