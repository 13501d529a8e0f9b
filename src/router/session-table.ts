// Which agent owns which session. Agents create ids independently, so a public id is the agent's own id unless that is taken.

export type Binding = {
  readonly publicId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd: string | undefined;
  /** In use on this connection. A remembered binding yields to a new session with the same id. */
  readonly isLive: boolean;
};

export type SessionTable = {
  /** Binds a session that an agent has just created, under an id that is not `reserved`. */
  mint(agent: string, nativeId: string, cwd: string | undefined, reserved?: (publicId: string) => boolean): Binding;
  /** Binds a session from a list or an earlier process; keeps an existing binding. */
  adopt(agent: string, nativeId: string, cwd: string | undefined, reserved?: (publicId: string) => boolean): Binding;
  /** Restores a binding that an earlier process stored. */
  remember(binding: Omit<Binding, 'isLive'>): void;
  /**
   * Marks the session as in use under this id until it is released, also while the proxy still looks for it at that agent, so that no other
   * session gets the id. Nothing else may be in use under it, except a session it replaces.
   */
  claim(publicId: string, agent: string, nativeId: string, cwd: string | undefined): Binding;
  release(publicId: string): void;
  find(publicId: string): Binding | undefined;
  findNative(agent: string, nativeId: string): Binding | undefined;
};

/** An id that tells whose session it is. */
export function aliasFor(nativeId: string, agent: string, isTaken: (candidate: string) => boolean): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? `${nativeId}~${agent}` : `${nativeId}~${agent}~${n}`;
    if (!isTaken(candidate)) return candidate;
  }
}

/** `isIdInUse`: a request at the client still uses an id that its session no longer has. Another session must not get it. */
export function createSessionTable(isIdInUse: (publicId: string) => boolean = () => false): SessionTable {
  const byPublicId = new Map<string, Binding>();
  /** By agent, then by native id: a combined key would cost one more string for each session. */
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
    own?.delete(binding.nativeId);
    if (own?.size === 0) byNative.delete(binding.agent);
  }
  /** Overwriting a live binding would hand one user's session to another agent. */
  function freeId(agent: string, nativeId: string, isTaken: (binding: Binding) => boolean, reserved = (_: string) => false): string {
    const isFree = (candidate: string): boolean => {
      const holder = byPublicId.get(candidate);
      return !(holder && isTaken(holder)) && !isIdInUse(candidate) && !reserved(candidate);
    };
    return isFree(nativeId) ? nativeId : aliasFor(nativeId, agent, (candidate) => !isFree(candidate));
  }

  return {
    mint(agent, nativeId, cwd, reserved) {
      const before = findNative(agent, nativeId);
      if (before && !before.isLive) drop(before);
      const publicId = before?.isLive ? before.publicId : freeId(agent, nativeId, (holder) => holder.isLive, reserved);
      return set({ publicId, agent, nativeId, cwd, isLive: true });
    },
    adopt(agent, nativeId, cwd, reserved) {
      const known = findNative(agent, nativeId);
      return known ?? set({ publicId: freeId(agent, nativeId, () => true, reserved), agent, nativeId, cwd, isLive: false });
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
