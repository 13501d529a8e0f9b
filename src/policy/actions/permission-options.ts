// Which of the offered options answers a permission request, and which replaces an "always" answer. Chosen by kind, never by id: ids belong
// to the agent.

export type PermissionOption = { readonly optionId: string; readonly name: string; readonly kind: string };

/** The entries of an offer that are valid options. */
export function readOptions(offered: unknown): readonly PermissionOption[] {
  if (!Array.isArray(offered)) return [];
  const options = offered.flatMap((option: unknown) => {
    const { optionId, name, kind } = (option ?? {}) as Record<string, unknown>;
    if (typeof optionId !== 'string' || typeof kind !== 'string') return [];
    return [{ optionId, kind, name: typeof name === 'string' ? name : '' }];
  });
  // Two options with the same id cannot be told apart in an answer.
  const count = new Map<string, number>();
  for (const { optionId } of options) count.set(optionId, (count.get(optionId) ?? 0) + 1);
  return options.filter(({ optionId }) => count.get(optionId) === 1);
}

/** Never an "always" option: agents turn those into rules of their own and stop asking. */
export function optionToAllow(options: readonly PermissionOption[]): PermissionOption | undefined {
  return plainest(options, 'allow_once');
}

export function optionToDeny(options: readonly PermissionOption[]): PermissionOption | undefined {
  return plainest(options, 'reject_once') ?? plainest(options, 'reject_always');
}

/** What the agent receives when the user chose an "always" option, which the switchboard remembers instead. */
export function onceInstead(options: readonly PermissionOption[], chosen: PermissionOption): PermissionOption {
  if (chosen.kind === 'allow_always') return optionToAllow(options) ?? chosen;
  if (chosen.kind === 'reject_always') return plainest(options, 'reject_once') ?? chosen;
  return chosen;
}

/** What else an option does besides allow or reject: codex offers to decline and to cancel the turn under the same kind. */
const MORE = /cancel|abort|stop|interrupt|feedback|amend|session|differently|edit/i;

function plainest(options: readonly PermissionOption[], kind: string): PermissionOption | undefined {
  const fitting = options.filter((option) => option.kind === kind);
  return fitting.find(({ optionId, name }) => !MORE.test(optionId) && !MORE.test(name)) ?? fitting[0];
}
