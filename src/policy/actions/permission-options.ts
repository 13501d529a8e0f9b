// Which of the offered options answers a permission request, and which goes on in place of an answer for always. By kind, never by id:
// ids are the agent's own business.

export type PermissionOption = { readonly optionId: string; readonly name: string; readonly kind: string };

/** Of what a request offers, what can be understood as an option. */
export function readOptions(offered: unknown): readonly PermissionOption[] {
  if (!Array.isArray(offered)) return [];
  const options = offered.flatMap((option: unknown) => {
    const { optionId, name, kind } = (option ?? {}) as Record<string, unknown>;
    if (typeof optionId !== 'string' || typeof kind !== 'string') return [];
    return [{ optionId, kind, name: typeof name === 'string' ? name : '' }];
  });
  // Two of one id cannot be told apart in an answer.
  const count = new Map<string, number>();
  for (const { optionId } of options) count.set(optionId, (count.get(optionId) ?? 0) + 1);
  return options.filter(({ optionId }) => count.get(optionId) === 1);
}

/** Never one for always: agents make rules of their own of those, and ask no more. */
export function optionToAllow(options: readonly PermissionOption[]): PermissionOption | undefined {
  return plainest(options, 'allow_once');
}

export function optionToDeny(options: readonly PermissionOption[]): PermissionOption | undefined {
  return plainest(options, 'reject_once') ?? plainest(options, 'reject_always');
}

/** What the agent gets to hear when the user has chosen an option for always, which is ours to remember. */
export function onceInstead(options: readonly PermissionOption[], chosen: PermissionOption): PermissionOption {
  if (chosen.kind === 'allow_always') return optionToAllow(options) ?? chosen;
  if (chosen.kind === 'reject_always') return plainest(options, 'reject_once') ?? chosen;
  return chosen;
}

/** What else an option does besides saying yes or no: codex declines and cancels the turn by options of one kind. */
const MORE = /cancel|abort|stop|interrupt|feedback|amend|session|differently|edit/i;

function plainest(options: readonly PermissionOption[], kind: string): PermissionOption | undefined {
  const fitting = options.filter((option) => option.kind === kind);
  return fitting.find(({ optionId, name }) => !MORE.test(optionId) && !MORE.test(name)) ?? fitting[0];
}
