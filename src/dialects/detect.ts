// How an agent speaks, told from its first words. Looked at only until it has answered initialize.
import { OUTSIDE } from '../wire/framing/content-length.ts';
import { DIALECT_NAMES, dialectNamed } from './registry.ts';
import { type Framing, isAllowed, isSame, type Tongue, type TongueSetting, usualDialect } from './select-dialect.ts';

/** What an agent has said that is not an answer to initialize in the tongue it was read in. */
export type FirstWords =
  | { readonly kind: 'noise'; readonly line: string }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'answer'; readonly result?: unknown; readonly error?: unknown };

const HEADER = /^\s*content-(length|type)\s*:/i;

/** The tongue that they are in, when the configuration leaves it open and it has not just been tried. */
export function recognise(setting: TongueSetting, tried: Tongue, words: FirstWords): Tongue | undefined {
  const guess = guessOf(tried, words);
  if (!guess) return undefined;
  const wanted = { framing: guess.framing, dialect: setting.dialect === 'auto' ? guess.dialect : setting.dialect };
  return isAllowed(setting, wanted) && !isSame(wanted, tried) ? wanted : undefined;
}

function guessOf(tried: Tongue, words: FirstWords): Tongue | undefined {
  if (words.kind === 'noise') {
    if (tried.framing === 'ndjson') return HEADER.test(words.line) ? inFraming('content-length') : undefined;
    return words.line.startsWith(`${OUTSIDE}{`) ? inFraming('ndjson') : undefined;
  }
  const name = DIALECT_NAMES.find((one) => {
    const dialect = dialectNamed(one);
    return words.kind === 'method' ? dialect?.isItsMethod?.(words.method) : dialect?.isItsAnswer?.(words);
  });
  return name && { ...tried, dialect: name };
}

const inFraming = (framing: Framing): Tongue => ({ framing, dialect: usualDialect(framing) });
