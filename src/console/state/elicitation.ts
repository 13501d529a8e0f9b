// An elicitation of an agent's, as it is shown and as it is answered.

import type { Elicitation } from '../protocol/state.ts';
import { readForm } from './form-schema.ts';
import { type Fields, shown, text } from './read-update.ts';

type Values = Parameters<NonNullable<ReturnType<typeof readForm>>['answer']>[0];

export type Elicited = {
  readonly message: string;
  readonly shown: Elicitation;
  /** What a yes brings: content for the agent, an address for the page. */
  accept(values: Values): { readonly content?: Fields; readonly url?: string } | { readonly problem: string };
};

const CANNOT = { problem: 'this cannot be answered here; decline it' };

export function readElicitation(params: Fields, clean: (words: string) => string): Elicited {
  const message = clean(text(params.message) ?? 'The agent asks for something');
  const { mode, url } = params;
  if (mode === 'url' && typeof url === 'string') {
    const address = URL.canParse(url) ? new URL(url) : undefined;
    // Anything else would not go to a place but do something here.
    if (address && /^https?:$/.test(address.protocol))
      return {
        message,
        shown: { mode: 'url', url: clean(url), host: clean(address.host) },
        // Hidden parts of it are hidden from whoever looks on, and belong to it all the same.
        accept: () => ({ url }),
      };
  }
  const form = mode === 'form' ? readForm(params.requestedSchema, clean) : undefined;
  if (form) return { message, shown: { mode: 'form', fields: form.fields }, accept: form.answer };
  const asked = clean(shown(mode === 'form' ? params.requestedSchema : (url ?? mode)) ?? '');
  return { message, shown: { mode: 'other', text: asked }, accept: () => CANNOT };
}
