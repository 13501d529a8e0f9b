import type { VNode } from 'preact';

/** One line of a list of facts. */
export const Fact = ({ name, children }: { readonly name: string; readonly children: string }): VNode => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
