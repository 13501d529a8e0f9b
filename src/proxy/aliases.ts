// Names that agents choose independently and the editor must tell apart: the first keeps its name, a later equal one gets another.
import type { AgentLeg } from './agent-leg.ts';

export type Aliases = {
  /** The name for the editor. */
  claim(leg: AgentLeg, name: string): string;
  /** Whose name it is, and how that agent spells it. */
  find(publicName: string): { readonly leg: AgentLeg; readonly name: string } | undefined;
  publicName(leg: AgentLeg, name: string): string | undefined;
  release(publicName: string): void;
  releaseAll(leg: AgentLeg): void;
};

export function createAliases(): Aliases {
  const owners = new Map<string, { readonly leg: AgentLeg; readonly name: string }>();
  const publicName = (leg: AgentLeg, name: string): string | undefined => {
    for (const [known, owner] of owners) if (owner.leg === leg && owner.name === name) return known;
    return undefined;
  };
  return {
    claim(leg, name) {
      let candidate = name;
      for (let n = 1; ; n++) {
        const owner = owners.get(candidate);
        if (!owner || owner.leg === leg) break;
        candidate = n === 1 ? `${name}~${leg.name}` : `${name}~${leg.name}~${n}`;
      }
      owners.set(candidate, { leg, name });
      return candidate;
    },
    find: (name) => owners.get(name),
    publicName,
    release: (name) => void owners.delete(name),
    releaseAll(leg) {
      for (const [name, owner] of owners) if (owner.leg === leg) owners.delete(name);
    },
  };
}
