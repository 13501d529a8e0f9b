// The settings of a policy besides its rules: modes of agents, tools to expose, how long answers are remembered, limits.
import { type AgentSettings, MAX_SCOPES, SANDBOX_LEVELS, SANDBOX_NETWORKS, SCOPES, type Settings, VIOLATIONS } from '../policy.ts';
import { compileTool } from './read-rule.ts';
import { count, duration, fields, flag, oneOf, type Reader, texts } from './reader.ts';
import type { Tree } from './tree.ts';

export type SettingTrees = Partial<Record<'agents' | 'mcp' | 'remember' | 'limits', Tree>>;

export function readSettings(reader: Reader, trees: SettingTrees): Settings {
  const mcp = trees.mcp ? fields(reader, trees.mcp, 'mcp', ['expose', 'pin']) : {};
  const remember = trees.remember ? fields(reader, trees.remember, 'remember', ['allow_always', 'ttl', 'max_scope']) : {};
  const limits = trees.limits ? fields(reader, trees.limits, 'limits', ['permission_timeout', 'max_pending_permissions']) : {};
  // An empty list is meaningful here: expose nothing.
  const isEmpty = mcp.expose?.kind === 'list' && mcp.expose.items.length === 0;
  const expose = isEmpty ? [] : texts(reader, mcp.expose, 'mcp.expose');
  return {
    agents: readAgents(reader, trees.agents),
    mcp: {
      pin: flag(reader, mcp.pin, 'mcp.pin'),
      expose: expose?.flatMap((value) => {
        const compiled = compileTool(value.text);
        if (!('wrong' in compiled)) return [compiled];
        reader.report(value, value.path, compiled.wrong, compiled.hint);
        return [];
      }),
    },
    remember: {
      allowAlways: oneOf(reader, remember.allow_always, 'remember.allow_always', SCOPES),
      ttlMs: duration(reader, remember.ttl, 'remember.ttl'),
      maxScope: oneOf(reader, remember.max_scope, 'remember.max_scope', MAX_SCOPES),
    },
    limits: {
      permissionTimeoutMs: duration(reader, limits.permission_timeout, 'limits.permission_timeout'),
      maxPendingPermissions: count(reader, limits.max_pending_permissions, 'limits.max_pending_permissions'),
    },
  };
}

function readAgents(reader: Reader, tree: Tree | undefined): Map<string, AgentSettings> {
  const agents = new Map<string, AgentSettings>();
  if (tree === undefined) return agents;
  if (tree.kind !== 'map') {
    reader.report(tree, 'agents', 'expected a map from the name of an agent ("*" for all) to its settings');
    return agents;
  }
  for (const [name, { value }] of tree.entries) {
    const path = `agents.${name}`;
    const found = fields(reader, value, path, ['mode', 'on_violation', 'sandbox', 'network', 'unavailable']);
    const mode = found.mode ? fields(reader, found.mode, `${path}.mode`, ['pin', 'refuse']) : {};
    agents.set(name, {
      pin: texts(reader, mode.pin, `${path}.mode.pin`)?.map(({ text }) => text),
      refuse: texts(reader, mode.refuse, `${path}.mode.refuse`)?.map(({ text }) => text) ?? [],
      onViolation: oneOf(reader, found.on_violation, `${path}.on_violation`, VIOLATIONS),
      sandbox: oneOf(reader, found.sandbox, `${path}.sandbox`, SANDBOX_LEVELS),
      network: oneOf(reader, found.network, `${path}.network`, SANDBOX_NETWORKS),
      unavailable: oneOf(reader, found.unavailable, `${path}.unavailable`, ['fail', 'warn']),
    });
  }
  return agents;
}
