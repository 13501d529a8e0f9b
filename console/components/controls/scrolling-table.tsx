import type { ComponentChildren, VNode } from 'preact';

/** Around a table that may be wider than the screen: it scrolls sideways, also by keyboard. */
export const ScrollingTable = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }): VNode => (
  <div class="table" role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
);
