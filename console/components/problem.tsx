import type { VNode } from 'preact';

/** What went wrong, said as soon as it is known; nothing while nothing has. */
export function Problem({ text }: { readonly text: string }): VNode | null {
  if (text === '') return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
