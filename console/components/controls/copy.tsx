// A button that copies a text.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1500;

/** `text` is called when the button is pressed. */
export function Copy({ text, label }: { readonly text: () => string; readonly label: string }): VNode {
  const [state, set] = useState<'' | 'done' | 'failed'>('');
  useEffect(() => {
    if (state === '') return;
    const timer = setTimeout(() => set(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const shown = state === 'done' ? 'Copied' : state === 'failed' ? 'The browser did not allow copying' : label;
  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={shown}
      title={shown}
      onClick={() =>
        navigator.clipboard.writeText(text()).then(
          () => set('done'),
          () => set('failed'),
        )
      }
    >
      <Icon name={state === 'done' ? 'check' : state === 'failed' ? 'cross' : 'copy'} />
    </button>
  );
}
