import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A modal dialog; Escape closes it. */
export function Dialog({
  title,
  look,
  onClose,
  children,
}: {
  readonly title: string;
  /** A wider one. */
  readonly look?: 'large';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): VNode {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} class={look} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks for confirmation. */
export function Confirm({
  title,
  confirmLabel,
  look = 'primary',
  action,
  close,
  children,
}: {
  readonly title: string;
  readonly confirmLabel: string;
  readonly look?: 'primary' | 'danger';
  readonly action: () => void;
  readonly close: () => void;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <Dialog title={title} onClose={close}>
      {children}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class={look} onClick={action}>
          {confirmLabel}
        </button>
      </div>
    </Dialog>
  );
}
