// What happens if the agent does not ask: one sentence for a decision of the policy.

import type { Action } from '../../policy/actions/action.ts';
import type { Decision } from '../../policy/decide.ts';
import { isInside } from '../../policy/paths/path.ts';
import type { Policy, SandboxLevel, SandboxNetwork } from '../../policy/policy.ts';
import { containing } from './rules.ts';

export type IfNotAsked = { readonly isPrevented: boolean; readonly text: string };

const prevented = (text: string): IfNotAsked => ({ isPrevented: true, text: `prevented, also if it does not ask: ${text}` });
const possible = (text: string): IfNotAsked => ({ isPrevented: false, text: `not prevented if it does not ask: ${text}` });

/** Undefined for what the policy allows. `kindOf`: a sandbox covers the files that exist when it starts. */
export function ifNotAsked(
  policy: Policy,
  { level, network }: { readonly level: SandboxLevel; readonly network: SandboxNetwork },
  action: Action,
  decision: Decision,
  kindOf: (path: string) => 'file' | 'directory' | undefined,
): IfNotAsked | undefined {
  if (decision.verdict === 'allow') return undefined;
  if (level === 'off') return possible('there is no sandbox; set "sandbox" in the configuration or in the policy');
  const writes = action.paths.filter(({ access }) => access !== 'read');
  const isReviewed =
    level === 'review' && action.commands.length === 0 && writes.length > 0 && writes.every(({ path }) => isInside(action.cwd, path));
  const atTheEnd = `the change ${decision.verdict === 'deny' ? 'is dropped' : 'waits for your answer'} at the end of the turn`;
  const found = policy.strict.find(({ rule }) => rule.id === decision.rule?.id && rule.file === decision.rule.file)?.rule;
  if (found) {
    const how = containing(found);
    if (how.kind === 'hide' || how.kind === 'protect') {
      const files = [...action.paths, ...action.commands.flatMap(({ operands }) => operands)];
      const kinds = new Set(
        files.filter((file) => found.paths?.some((glob) => glob.touches(file, action))).map(({ path }) => kindOf(path)),
      );
      const exists = kinds.size > 0 && !kinds.has(undefined);
      if (exists && how.kind === 'hide') return prevented('the sandbox hides the file');
      if (isReviewed) return prevented(atTheEnd);
      if (!exists) return possible('a sandbox covers files that exist when it starts, and there is none');
      // The rule matches names in any case: `build` is a directory more often than Bazel's `BUILD`.
      if (kinds.has('directory')) return possible('it is a directory; the sandbox makes files of this name read-only');
      return prevented('an existing file of this name is read-only in the sandbox');
    }
    if (how.kind === 'none') return possible(how.why);
    return network === 'open' ? possible('the network of the sandbox is open') : prevented('the host is not on the list of the sandbox');
  }
  if (isReviewed) return prevented(atTheEnd);
  if (action.commands.length > 0) return possible('a sandbox cannot tell commands apart');
  if (writes.length > 0 && (level === 'read-only' || writes.every(({ path }) => !isInside(action.cwd, path))))
    return prevented(level === 'read-only' ? 'the agent writes only its own state' : 'outside the project everything is read-only');
  if (action.hosts.length > 0 && network !== 'open') return prevented('the host is not on the list of the sandbox');
  return possible('no rule names it');
}
