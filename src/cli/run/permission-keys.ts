// Which key answers a permission question with which of the options that the agent offers.

export type Offered = { readonly optionId: string; readonly name: string; readonly kind: string };
export type KeyedOption = Offered & { readonly key: string };

const KEYS: Readonly<Record<string, string>> = { allow_once: 'y', allow_always: 'a', reject_once: 'n', reject_always: 'd' };

/** The first of each kind has that kind's letter, all others a number. */
export function keyed(options: readonly Offered[]): readonly KeyedOption[] {
  const taken = new Set<string>();
  let next = 1;
  return options.map((option) => {
    const letter = KEYS[option.kind];
    const key = letter === undefined || taken.has(letter) ? String(next++) : letter;
    taken.add(key);
    return { ...option, key };
  });
}

/** What is said when nobody can be asked: no, as plainly as the agent lets us. */
export function refusal(options: readonly Offered[]): unknown {
  const option = options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}
