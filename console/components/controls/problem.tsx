import type { VNode } from 'preact';

/** Announces an error; empty without one. */
export function Problem({ text }: { readonly text: string }): VNode | null {
  if (text === '') return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
