// Highlighted code. The highlighter loads on first use; until then the code is plain.
import { signal } from '@preact/signals';
import { Component, type ComponentChildren, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Token } from './colours.ts';
import { type Gap, isInside, Omitted } from './omitted.tsx';

type Painter = typeof import('./colours.ts').tokensOf;
const painter = signal<Painter | undefined>(undefined);
let isRequested = false;
/** Longer texts are highlighted piece by piece, and longer lines not at all. */
const MAX_CHARACTERS = 60_000;
/** A piece is at least this long. */
const PIECE_CHARACTERS = 3000;

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

type Props = {
  readonly text: string;
  readonly language: string;
  /** Pieces in it are not shown. */
  readonly gap?: Gap | undefined;
  /** The gap was shown before. */
  readonly isTold?: boolean | undefined;
};

/** Code in pieces of whole lines: while the text grows, only the last piece is read, drawn and laid out again. */
export function Code({ text, language, gap, isTold = false }: Props): VNode {
  const paint = painter.value;
  const drawn = useRef<Drawn>(NOTHING);
  useEffect(() => {
    if (language !== '') fetchPainter();
  }, [language]);
  drawn.current = drawMore(drawn.current, text, language, paint);
  const { pieces } = drawn.current;
  const all = pieces.map((piece, index) =>
    gap && isInside(gap, piece.at, piece.at + piece.length) ? null : <Piece key={index} piece={piece} language={language} paint={paint} />,
  );
  if (gap && !isTold) {
    const first = pieces.findIndex(({ at }) => at >= gap.from);
    all.splice(first === -1 ? all.length : first, 0, <Omitted key="gap" gap={gap} />);
  }
  return <>{all}</>;
}

type Tokens = readonly Token[];
type PieceOfCode = {
  readonly at: number;
  readonly length: number;
  readonly tokens: Tokens;
  /** Its tokens are made when it is drawn. */
  readonly isLate: boolean;
};
/** All pieces; the last may still change. `settled` is the number of characters before it. */
type Drawn = {
  readonly text: string;
  readonly language: string;
  readonly paint: Painter | undefined;
  readonly settled: number;
  readonly pieces: readonly PieceOfCode[];
};
const NOTHING: Drawn = { text: '', language: '', paint: undefined, settled: 0, pieces: [] };

function drawMore(before: Drawn, text: string, language: string, paint: Painter | undefined): Drawn {
  if (before.text === text && before.paint === paint && before.language === language) return before;
  const goesOn = before.paint === paint && before.language === language && text.startsWith(before.text.slice(0, before.settled));
  const kept = goesOn ? before : NOTHING;
  const rest = text.slice(kept.settled);
  const isLate = rest.length > MAX_CHARACTERS;
  let at = kept.settled;
  const pieces = piecesOf((isLate ? undefined : paint?.(rest, language)) ?? [{ kind: undefined, text: rest }]).map(
    (tokens): PieceOfCode => {
      const length = tokens.reduce((sum, token) => sum + token.text.length, 0);
      at += length;
      return { at: at - length, length, tokens, isLate };
    },
  );
  return { text, language, paint, settled: at - (pieces.at(-1)?.length ?? 0), pieces: [...kept.pieces.slice(0, -1), ...pieces] };
}

/** Cuts behind line ends that are in no token. A piece shows as a block, which ends its last line: an empty line at the end would be lost. */
export function piecesOf(tokens: Tokens): readonly Tokens[] {
  const pieces: Token[][] = [[]];
  let length = 0;
  for (const [index, token] of tokens.entries()) {
    let { text } = token;
    while (token.kind === undefined && length + text.length > PIECE_CHARACTERS) {
      const found = /\S[^\S\n]*\n/.exec(text.slice(Math.max(0, PIECE_CHARACTERS - length)));
      if (!found) break;
      const end = Math.max(0, PIECE_CHARACTERS - length) + found.index + found[0].length;
      if (end === text.length && index === tokens.length - 1) break; // nothing follows yet
      pieces.at(-1)?.push({ kind: undefined, text: text.slice(0, end) });
      pieces.push([]);
      text = text.slice(end);
      length = 0;
    }
    if (text !== '') pieces.at(-1)?.push({ kind: token.kind, text });
    length += text.length;
  }
  return pieces;
}

type PieceProps = { readonly piece: PieceOfCode; readonly language: string; readonly paint: Painter | undefined };

class Piece extends Component<PieceProps> {
  override shouldComponentUpdate({ piece, paint }: PieceProps): boolean {
    return piece.tokens !== this.props.piece.tokens || (piece.isLate && paint !== this.props.paint);
  }
  override render(): ComponentChildren {
    const { piece, language, paint } = this.props;
    const late =
      piece.isLate && piece.length <= MAX_CHARACTERS ? paint?.(piece.tokens.map(({ text }) => text).join(''), language) : undefined;
    return <span class="piece">{colouredOf(late ?? piece.tokens)}</span>;
  }
}

const colouredOf = (tokens: Tokens): ComponentChildren =>
  tokens.map(({ kind, text }) => (kind === undefined ? text : <span class={`tok-${kind}`}>{text}</span>));

export type Marked = { readonly text: string; readonly isMarked: boolean };

/** Parts of a line, some of them marked; these have one colour. Reads a signal: the caller renders again once the highlighter has loaded. */
export function painted(parts: readonly Marked[], language: string): ComponentChildren {
  const text = parts.map((part) => part.text).join('');
  const tokens = (text.length > MAX_CHARACTERS ? undefined : painter.value?.(text, language)) ?? [{ kind: undefined, text }];
  let from = 0;
  return parts.map(({ text: its, isMarked }) => {
    const at = from;
    from += its.length;
    return isMarked ? <mark>{its}</mark> : colouredOf(between(tokens, at, from));
  });
}

function between(tokens: Tokens, from: number, to: number): Tokens {
  let start = 0;
  return tokens.flatMap(({ kind, text }) => {
    const cut = text.slice(Math.max(0, from - start), Math.max(0, to - start));
    start += text.length;
    return cut === '' ? [] : [{ kind, text: cut }];
  });
}
