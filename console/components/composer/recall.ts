// Recalls earlier prompts of the session with the arrow keys, as a shell does.
import { useRef } from 'preact/hooks';
import type { Shown } from '../../state.ts';

export type Recall = {
  /** The text to show instead; undefined when the key keeps its usual meaning. */
  step(by: -1 | 1, text: string, caret: number): string | undefined;
  reset(): void;
};

type State = { readonly at: number; readonly text: string; readonly draft: string };

export function useRecall(shown: Shown): Recall {
  const state = useRef<State | undefined>(undefined);
  return {
    step(by, text, caret) {
      const prompts = promptsOf(shown);
      const now = state.current?.text === text ? state.current : undefined;
      // In a text of the user, the arrow keys move between its lines.
      if (!now && (by === 1 || (text !== '' && caret > 0))) return undefined;
      const from = now ?? { at: prompts.length, text, draft: text };
      const at = from.at + by;
      if (at < 0) return from.text;
      const found = prompts[at] ?? from.draft;
      state.current = at >= prompts.length ? undefined : { at, text: found, draft: from.draft };
      return found;
    },
    reset() {
      state.current = undefined;
    },
  };
}

/** The prompts of the session, oldest first, without repetitions in a row. */
function promptsOf({ conversation: { items } }: Shown): readonly string[] {
  const texts = items.flatMap((item) => (item.kind === 'message' && item.role === 'user' && item.text !== '' ? [item.text] : []));
  return texts.filter((text, index) => text !== texts[index - 1]);
}
