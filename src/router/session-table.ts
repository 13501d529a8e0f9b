// Who owns which session. Agents mint ids independently, so a public id is the agent's own id unless that is taken.

export type Binding = {
  readonly publicId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd: string | undefined;
  /** In use on this connection; a binding that was only remembered gives way to a new session of the same id. */
  readonly isLive: boolean;
};

export type SessionTable = {
  /** The session an agent has just minted. */
  mint(agent: string, nativeId: string, cwd: string | undefined): Binding;
  /** A session heard of otherwise (a list, an earlier process): keeps its binding if it has one. */
  adopt(agent: string, nativeId: string, cwd: string | undefined): Binding;
  /** What an earlier process wrote down. */
  remember(binding: Omit<Binding, 'isLive'>): void;
  /**
   * The session is in use under this id from now on, as long as it is not released: also while it is only looked for at that agent, so that
   * no other session comes to the id meanwhile. Nothing may be in use under it but what it takes the place of.
   */
  claim(publicId: string, agent: string, nativeId: string, cwd: string | undefined): Binding;
  release(publicId: string): void;
  find(publicId: string): Binding | undefined;
  findNative(agent: string, nativeId: string): Binding | undefined;
};

/** `isAskedUnder`: something is still open at the editor under an id that its session no longer goes by. Another session must not get that. */
export function createSessionTable(isAskedUnder: (publicId: string) => boolean = () => false): SessionTable {
  const byPublicId = new Map<string, Binding>();
  /** By agent, then by its own ids: a key made of both would be one more string for each session. */
  const byNative = new Map<string, Map<string, Binding>>();
  const findNative = (agent: string, nativeId: string) => byNative.get(agent)?.get(nativeId);

  function set(binding: Binding): Binding {
    drop(byPublicId.get(binding.publicId));
    drop(findNative(binding.agent, binding.nativeId)); // one session, one id
    byPublicId.set(binding.publicId, binding);
    const own = byNative.get(binding.agent) ?? new Map<string, Binding>();
    byNative.set(binding.agent, own.set(binding.nativeId, binding));
    return binding;
  }
  function drop(binding: Binding | undefined): void {
    if (!binding) return;
    byPublicId.delete(binding.publicId);
    const own = byNative.get(binding.agent);
    if (own?.get(binding.nativeId) === binding) own.delete(binding.nativeId);
    if (own?.size === 0) byNative.delete(binding.agent);
  }
  /** Overwriting a live binding would hand one user's session to the other agent. */
  function freeId(agent: string, nativeId: string, isTaken: (binding: Binding) => boolean): string {
    for (let n = 0; ; n++) {
      const candidate = n === 0 ? nativeId : n === 1 ? `${nativeId}~${agent}` : `${nativeId}~${agent}~${n}`;
      const holder = byPublicId.get(candidate);
      if (!holder && isAskedUnder(candidate)) continue;
      if (!holder || (holder.agent === agent && holder.nativeId === nativeId) || !isTaken(holder)) return candidate;
    }
  }

  return {
    mint(agent, nativeId, cwd) {
      const before = findNative(agent, nativeId);
      if (before && !before.isLive) drop(before);
      const publicId = before?.isLive ? before.publicId : freeId(agent, nativeId, (holder) => holder.isLive);
      return set({ publicId, agent, nativeId, cwd, isLive: true });
    },
    adopt(agent, nativeId, cwd) {
      const known = findNative(agent, nativeId);
      return known ?? set({ publicId: freeId(agent, nativeId, () => true), agent, nativeId, cwd, isLive: false });
    },
    remember(binding) {
      const isInUse = byPublicId.get(binding.publicId)?.isLive || findNative(binding.agent, binding.nativeId)?.isLive;
      if (!isInUse) set({ ...binding, isLive: false });
    },
    claim: (publicId, agent, nativeId, cwd) => set({ publicId, agent, nativeId, cwd, isLive: true }),
    release: (publicId) => drop(byPublicId.get(publicId)),
    find: (publicId) => byPublicId.get(publicId),
    findNative,
  };
}
