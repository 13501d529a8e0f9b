// Names that agents choose independently and the client must tell apart: the first keeps its name, a later equal one gets an alias.
import type { Agent } from '../agents/agent.ts';

export type Aliases = {
  /** The name for the client. An agent may use a name several times at once: each use is released separately. */
  claim(agent: Agent, name: string): string;
  /** Whose name it is, and how that agent spells it. */
  find(publicName: string): { readonly agent: Agent; readonly name: string } | undefined;
  publicName(agent: Agent, name: string): string | undefined;
  /** Ends one use; the name is free after the last. */
  release(publicName: string): void;
  releaseAll(agent: Agent): void;
};

export function createAliases(): Aliases {
  const owners = new Map<string, { readonly agent: Agent; readonly name: string; uses: number }>();
  const publicName = (agent: Agent, name: string): string | undefined => {
    for (const [known, owner] of owners) if (owner.agent === agent && owner.name === name) return known;
    return undefined;
  };
  return {
    claim(agent, name) {
      const known = publicName(agent, name);
      if (known !== undefined) {
        (owners.get(known) as { uses: number }).uses++;
        return known;
      }
      let candidate = name;
      for (let n = 1; owners.has(candidate); n++) candidate = n === 1 ? `${name}~${agent.name}` : `${name}~${agent.name}~${n}`;
      owners.set(candidate, { agent, name, uses: 1 });
      return candidate;
    },
    find: (name) => owners.get(name),
    publicName,
    release(name) {
      const owner = owners.get(name);
      if (owner && --owner.uses === 0) owners.delete(name);
    },
    releaseAll(agent) {
      for (const [name, owner] of owners) if (owner.agent === agent) owners.delete(name);
    },
  };
}
