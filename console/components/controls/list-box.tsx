import type { ComponentChildren, VNode } from 'preact';

type Props<Entry> = {
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly chosen: Entry | undefined;
  readonly pick: (entry: Entry) => void;
  readonly show: (entry: Entry) => ComponentChildren;
};

/** A list to pick from while the focus stays in another field, which handles the arrow keys. */
export function ListBox<Entry>({ label, entries, chosen, pick, show }: Props<Entry>): VNode | null {
  if (entries.length === 0) return null;
  return (
    <ul class="list-box" role="listbox" aria-label={label}>
      {entries.map((entry) => (
        <li role="option" aria-selected={entry === chosen} tabIndex={-1} onClick={() => pick(entry)}>
          {show(entry)}
        </li>
      ))}
    </ul>
  );
}
