import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';

type Props = {
  readonly title: string;
  readonly label: string;
  readonly confirmLabel: string;
  readonly value?: string;
  readonly maxLength?: number;
  readonly placeholder?: string;
  readonly spellcheck?: boolean;
  /** Not called for an empty text. */
  readonly take: (text: string) => void;
  readonly close: () => void;
  readonly children?: ComponentChildren;
};

/** A dialog with one line of text. */
export function AskText({ title, label, confirmLabel, value = '', take, close, children, ...about }: Props): VNode {
  const [text, setText] = useState(value);
  return (
    <Dialog title={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') take(text.trim());
          close();
        }}
      >
        {children}
        <input aria-label={label} {...about} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {confirmLabel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
