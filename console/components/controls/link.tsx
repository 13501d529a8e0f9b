// Links from agents. Shows the address first and opens it only after confirmation.
import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { Confirm } from './dialog.tsx';

const target = signal<string | undefined>(undefined);

export function Link({ to, children }: { readonly to: string; readonly children: ComponentChildren }): VNode {
  if (!/^https?:\/\//i.test(to)) return <span class="address">{[children, ` (${to})`]}</span>;
  return (
    <button
      type="button"
      class="link"
      title={to}
      onClick={() => {
        target.value = to;
      }}
    >
      {children}
    </button>
  );
}

/** Rendered once, on every screen. */
export function ConfirmLink(): VNode | null {
  const to = target.value;
  if (to === undefined) return null;
  const close = () => {
    target.value = undefined;
  };
  return (
    <Confirm
      title="Open this address?"
      confirmLabel="Open"
      action={() => {
        window.open(to, '_blank', 'noopener,noreferrer');
        close();
      }}
      close={close}
    >
      <p>The agent wrote this address. It opens in a new tab.</p>
      <pre class="address-whole">{to}</pre>
    </Confirm>
  );
}
