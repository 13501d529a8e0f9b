// Names that agents choose independently and the editor must tell apart: the first keeps its name, a later equal one gets another.
import type { AgentLeg } from '../agents/agent.ts';

export type Aliases = {
  /** The name for the editor. An agent may use a name several times at once: each use is released on its own. */
  claim(leg: AgentLeg, name: string): string;
  /** Whose name it is, and how that agent spells it. */
  find(publicName: string): { readonly leg: AgentLeg; readonly name: string } | undefined;
  publicName(leg: AgentLeg, name: string): string | undefined;
  /** Ends one use; the name is free after the last. */
  release(publicName: string): void;
  releaseAll(leg: AgentLeg): void;
};

export function createAliases(): Aliases {
  const owners = new Map<string, { readonly leg: AgentLeg; readonly name: string; uses: number }>();
  const publicName = (leg: AgentLeg, name: string): string | undefined => {
    for (const [known, owner] of owners) if (owner.leg === leg && owner.name === name) return known;
    return undefined;
  };
  return {
    claim(leg, name) {
      const known = publicName(leg, name);
      if (known !== undefined) {
        (owners.get(known) as { uses: number }).uses++;
        return known;
      }
      let candidate = name;
      for (let n = 1; owners.has(candidate); n++) candidate = n === 1 ? `${name}~${leg.name}` : `${name}~${leg.name}~${n}`;
      owners.set(candidate, { leg, name, uses: 1 });
      return candidate;
    },
    find: (name) => owners.get(name),
    publicName,
    release(name) {
      const owner = owners.get(name);
      if (owner && --owner.uses === 0) owners.delete(name);
    },
    releaseAll(leg) {
      for (const [name, owner] of owners) if (owner.leg === leg) owners.delete(name);
    },
  };
}
