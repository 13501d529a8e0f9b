// Highlighted code. The highlighter loads on first use; until then the code is plain.
import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';

type Painter = typeof import('./colours.ts').tokensOf;
const painter = signal<Painter | undefined>(undefined);
let isRequested = false;
/** Longer texts are not highlighted. */
const MAX_CHARACTERS = 60_000;

export function fetchPainter(): void {
  if (isRequested) return;
  isRequested = true;
  void import('./colours.ts').then(
    ({ tokensOf }) => {
      painter.value = tokensOf;
    },
    () => {
      isRequested = false;
    },
  );
}

export function Code({ text, language }: { readonly text: string; readonly language: string }): VNode {
  useEffect(() => {
    if (language !== '') fetchPainter();
  }, [language]);
  return <>{painted(text, language)}</>;
}

/** Reads a signal, so the caller renders again once the highlighter has loaded. */
export function painted(text: string, language: string): ComponentChildren {
  const tokens = text.length > MAX_CHARACTERS ? undefined : painter.value?.(text, language);
  if (!tokens) return text;
  return tokens.map(({ kind, text: part }) => (kind === undefined ? part : <span class={`tok-${kind}`}>{part}</span>));
}
