// How often each rule has decided. Counted where decisions are written down.
export type Hits = { readonly count: number; readonly lastAt: number };

/** What they are counted by; without a rule, those that no rule has settled. */
export const hitKey = (rule: { readonly id: string; readonly file: string } | undefined): string =>
  rule === undefined ? '' : `${rule.file}\n${rule.id}`;
