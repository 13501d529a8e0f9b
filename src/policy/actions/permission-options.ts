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
  return options.filter((option) => count.get(option.optionId) === 1 && !isContradictory(option));
}

// Some agents use the kind as the label: `allow_once`.
const YES =
  /^\W*(?:yes|allow|accept|approve|ok|okay|proceed|run|grant|permit|trust|confirm|always (?:allow|approve)|sure|go ahead)(?![a-z])/i;
const NO =
  /^\W*(?:no|nope|reject|deny|decline|cancel|abort|refuse|disallow|don['’]?t|do not|never|stop|skip|block|forbid|always (?:reject|deny))(?![a-z])/i;

/** A user who selects it would do the opposite of what the label says, so it is neither offered nor chosen. */
const isContradictory = ({ kind, name }: PermissionOption): boolean => (kind.startsWith('allow') ? NO : YES).test(name);

/** Whether selecting the option is consent: only that covers what follows. By its kind, as labels come in any language; one without a label is not. */
export const isConsent = (option: PermissionOption): boolean =>
  /^allow_(once|always)$/.test(option.kind) && option.name.trim() !== '' && !isContradictory(option);

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
