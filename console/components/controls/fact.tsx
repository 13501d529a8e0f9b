import type { VNode } from 'preact';

export const Fact = ({ name, children }: { readonly name: string; readonly children: string }): VNode => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
