// Cuts Markdown into blocks: at blank lines, and around code blocks. A text that grows is read from its last complete line on.

export type Block = {
  /** Where it begins in the text: its identity while the text grows. */
  readonly at: number;
  readonly text: string;
  readonly code: Fenced | undefined;
};
/** `at` counts from the beginning of the block. */
export type Fenced = { readonly language: string; readonly text: string; readonly at: number };

/** What was read, up to the end of the last complete line. */
export type Read = Place & {
  readonly text: string;
  readonly done: number;
  /** The complete ones. */
  readonly blocks: readonly Block[];
};
type Place = {
  /** The beginning of the block that is not complete. */
  readonly at: number;
  /** The mark of the code fence that is open. */
  readonly fence: string | undefined;
  /** The code fence is not part of a list or a paragraph. */
  readonly isCode: boolean;
};

export const NOTHING: Read = { text: '', done: 0, blocks: [], at: 0, fence: undefined, isCode: false };

const FENCE = /^( {0,3})(`{3,}|~{3,})[^`]*$/;

export function readMore(before: Read, text: string): Read {
  const goesOn = text.startsWith(before.text.slice(0, before.done));
  let { done, at, fence, isCode }: Read = goesOn ? before : NOTHING;
  const blocks = [...(goesOn ? before.blocks : [])];
  for (let end = text.indexOf('\n', done); end !== -1; end = text.indexOf('\n', done)) {
    ({ at, fence, isCode } = readLine(text, done, end, { at, fence, isCode }, blocks));
    done = end + 1;
  }
  return { text, done, blocks, at, fence, isCode };
}

/** All blocks; the last may still grow. */
export function blocksIn({ text, done, blocks, ...place }: Read): readonly Block[] {
  const all = [...blocks];
  const { at, isCode } = readLine(text, done, text.length, place, all);
  pushBlock(all, text, at, text.length, isCode ? text.length : undefined);
  return all;
}

/** Reads the line between two positions. */
function readLine(text: string, start: number, end: number, { at, fence, isCode }: Place, blocks: Block[]): Place {
  const line = text.slice(start, end);
  const next = Math.min(end + 1, text.length);
  const [, indent = '', mark] = FENCE.exec(line) ?? [];
  if (fence === undefined && mark !== undefined) {
    if (indent.length > 1) return { at, fence: mark, isCode: false };
    pushBlock(blocks, text, at, start);
    return { at: start, fence: mark, isCode: true };
  }
  if (fence !== undefined) {
    if (!(mark?.startsWith(fence) && line.trim() === mark)) return { at, fence, isCode };
    if (isCode) pushBlock(blocks, text, at, end, start - 1);
    return { at: isCode ? next : at, fence: undefined, isCode: false };
  }
  if (line.trim() !== '') return { at, fence, isCode };
  pushBlock(blocks, text, at, start);
  return { at: next, fence, isCode };
}

/** `codeEnd`: the end of its code, if it is a code block. */
function pushBlock(blocks: Block[], text: string, at: number, end: number, codeEnd?: number): void {
  const whole = text.slice(at, end).replace(/\n$/, '');
  if (codeEnd !== undefined) {
    const first = text.indexOf('\n', at);
    const from = first === -1 ? end : Math.min(first + 1, end);
    const [language = ''] = text
      .slice(at, from)
      .replace(/^ ?[`~]+/, '')
      .trim()
      .split(/\s/, 1);
    blocks.push({ at, text: whole, code: { language, text: text.slice(from, Math.max(from, codeEnd)), at: from - at } });
  } else if (whole.trim() !== '') blocks.push({ at, text: whole, code: undefined });
}
