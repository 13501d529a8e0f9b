import type { VNode } from 'preact';

type Props = {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly set: (text: string) => void;
  /** On Enter. */
  readonly search?: () => void;
  /** Whether the text is invalid as a filter. */
  readonly isWrong?: boolean;
};

/** A field to filter or search. */
export const SearchField = ({ label, placeholder, text, set, search, isWrong = false }: Props): VNode => (
  <input
    type="search"
    class={isWrong ? 'wrong' : ''}
    spellcheck={false}
    placeholder={placeholder}
    aria-label={label}
    value={text}
    onInput={({ currentTarget }) => set(currentTarget.value)}
    onKeyDown={({ key }) => key === 'Enter' && search?.()}
  />
);
