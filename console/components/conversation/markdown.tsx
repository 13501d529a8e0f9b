// Renders Markdown as elements, never as HTML: nothing is parsed as markup, so nothing needs sanitising.
import { Component, type ComponentChildren, type VNode } from 'preact';
import { Code } from '../changes/code.tsx';
import { type Gap, gapFrom, isInside, Omitted } from '../changes/omitted.tsx';
import { Copy } from '../controls/copy.tsx';
import { Link } from '../controls/link.tsx';
import { ScrollingTable } from '../controls/scrolling-table.tsx';
import { type Block, blocksIn, NOTHING, readMore } from './blocks.ts';

type Shown = { readonly text: string; readonly gap?: Gap | undefined };

/** Complete blocks no longer change while the text grows: they are neither read nor rendered again. `gap` is not shown. */
export class Markdown extends Component<Shown> {
  read = NOTHING;

  override render({ text, gap }: Shown = this.props): VNode {
    this.read = readMore(this.read, text);
    return <div class="md">{chunksOf(blocksIn(this.read), gap)}</div>;
  }
}

/** A block of this length is not cut. */
const SHORT = 5000;

function chunksOf(blocks: readonly Block[], gap: Gap | undefined): VNode[] {
  const chunks: VNode[] = [];
  let isTold = false;
  for (const block of blocks) {
    const { at, text, code } = block;
    const end = at + text.length;
    if (!gap || end <= gap.from || at >= gap.to) {
      chunks.push(<Chunk key={at} block={block} />);
      continue;
    }
    const isIn = isInside(gap, at, end);
    if (code && !isIn) chunks.push(<Chunk key={at} block={block} gap={gapFrom(gap, at + code.at)} isTold={isTold} />);
    else {
      const isCut = text.length > SHORT;
      if (at < gap.from) chunks.push(<Chunk key={at} block={isCut ? part(block, 0, gap.from - at) : block} />);
      if (!isTold) chunks.push(<Omitted key="gap" gap={gap} />);
      if (end > gap.to) chunks.push(<Chunk key="end" block={isCut ? part(block, gap.to - at) : block} />);
    }
    isTold = true;
  }
  return chunks;
}

const part = (block: Block, from: number, to?: number): Block => ({ ...block, text: block.text.slice(from, to) });

type ChunkProps = {
  readonly block: Block;
  /** What is not shown of its code. */
  readonly gap?: Gap;
  /** The gap was shown before it. */
  readonly isTold?: boolean;
};

class Chunk extends Component<ChunkProps> {
  override shouldComponentUpdate({ block, gap, isTold }: ChunkProps): boolean {
    const { props } = this;
    return block.text !== props.block.text || gap?.from !== props.gap?.from || gap?.to !== props.gap?.to || isTold !== props.isTold;
  }
  override render(): ComponentChildren {
    const { block, gap, isTold } = this.props;
    if (block.code) return <CodeBlock text={block.code.text} language={block.code.language} gap={gap} isTold={isTold} />;
    return blocksOf(block.text.split('\n'));
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** Deeper nesting is shown as written. */
const DEEPEST = 20;

function blocksOf(lines: readonly string[], depth = 0): ComponentChildren[] {
  if (depth > DEEPEST) return [<p>{lines.join('\n')}</p>];
  const blocks: ComponentChildren[] = [];
  let at = 0;
  const while_ = (holds: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (at < lines.length && holds(lines[at] as string)) taken.push(lines[at++] as string);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at] as string;
    const [, mark, language = ''] = FENCE.exec(line) ?? [];
    const [, hashes, heading = ''] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (mark !== undefined) {
      at++;
      const code = while_((one) => !(one.trim().startsWith(mark) && one.trim().replaceAll(mark[0] as string, '') === ''));
      at++;
      blocks.push(<CodeBlock text={code.join('\n')} language={language.trim().split(/\s/, 1)[0] ?? ''} />);
    } else if (hashes !== undefined) {
      at++;
      const Tag = `h${Math.min(6, hashes.length + 2)}` as 'h3';
      blocks.push(<Tag>{inline(heading)}</Tag>);
    } else if (/^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(line)) {
      at++;
      blocks.push(<hr />);
    } else if (/^ {0,3}>/.test(line)) {
      const quoted = while_((one) => /^ {0,3}>/.test(one)).map((one) => one.replace(/^ {0,3}> ?/, ''));
      blocks.push(<blockquote>{blocksOf(quoted, depth + 1)}</blockquote>);
    } else if (ITEM.test(line)) {
      blocks.push(
        listOf(
          while_((one) => ITEM.test(one) || /^\s{2,}\S/.test(one)),
          depth,
        ),
      );
    } else if (line.includes('|') && /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?$/.test((lines[at + 1] ?? '').trim())) {
      blocks.push(tableOf(while_((one) => one.includes('|'))));
    } else {
      const text = [lines[at++] as string, ...while_((one) => !FENCE.test(one) && !/^(#{1,6}\s|\s*>)/.test(one) && !ITEM.test(one))];
      blocks.push(<p>{inline(text.join('\n'))}</p>);
    }
  }
  return blocks;
}

function listOf(lines: readonly string[], depth: number): VNode {
  const [, indent = '', mark = ''] = ITEM.exec(lines[0] as string) ?? [];
  const items: string[][] = [];
  for (const line of lines) {
    const [, its = '', , text = ''] = ITEM.exec(line) ?? [];
    if (ITEM.test(line) && its.length <= indent.length + 1) items.push([text]);
    else items.at(-1)?.push(line.replace(/^\s{1,4}/, ''));
  }
  const children = items.map(([first = '', ...rest]) => {
    const [, box, text = ''] = /^\[([ xX])\]\s+(.*)$/.exec(first) ?? [];
    return (
      <li>
        {box === undefined ? inline(first) : [<span class="box">{box === ' ' ? '☐' : '☑'}</span>, ' ', ...inline(text)]}
        {rest.length > 0 && blocksOf(rest, depth + 1)}
      </li>
    );
  });
  return /\d/.test(mark) ? <ol start={Number.parseInt(mark, 10)}>{children}</ol> : <ul>{children}</ul>;
}

function tableOf([head = '', , ...rows]: readonly string[]): VNode {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => inline(cell.trim()));
  return (
    <ScrollingTable label="Table">
      <table>
        <thead>
          <tr>
            {cells(head).map((cell) => (
              <th>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {cells(row).map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollingTable>
  );
}

/** Marks further apart are literal: searching the whole text for each end could take too long. */
const INLINE =
  /(?<!`)(`{1,8})(?!`)([\s\S]{0,1000}?[^`])\1(?!`)|\*\*(?=\S)([\s\S]{0,1000}?\S)\*\*|~~(?=\S)([\s\S]{0,1000}?\S)~~|(?<![\w*])[*](?=[^\s*])([^*\n]{0,1000}?[^\s*])[*](?!\w)|(?<![\w_])_(?=[^\s_])([^_\n]{0,1000}?[^\s_])_(?!\w)|\[([^\]\n]{1,1000})\]\((\S{1,2000}?)(?:\s{1,9}"[^"\n]{0,1000}")?\)|\b(https?:\/\/[^\s<>()[\]"']+)/;
const LONGEST = 20_000;

function inline(text: string): ComponentChildren[] {
  if (text.length > LONGEST) return [text];
  const parts: ComponentChildren[] = [];
  let rest = text;
  while (rest !== '') {
    const found = INLINE.exec(rest);
    if (!found) break;
    const [all, , code, bold, struck, stars, lines, name, target, bare] = found;
    if (found.index > 0) parts.push(rest.slice(0, found.index));
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (bold !== undefined) parts.push(<strong>{inline(bold)}</strong>);
    else if (struck !== undefined) parts.push(<s>{inline(struck)}</s>);
    else if (stars !== undefined || lines !== undefined) parts.push(<em>{inline((stars ?? lines) as string)}</em>);
    else if (name !== undefined) parts.push(<Link to={target as string}>{name}</Link>);
    else if (bare !== undefined) parts.push(<Link to={bare}>{bare}</Link>);
    rest = rest.slice(found.index + all.length);
  }
  if (rest !== '') parts.push(rest);
  return parts;
}

type CodeProps = {
  readonly text: string;
  readonly language: string;
  readonly gap?: Gap | undefined;
  readonly isTold?: boolean | undefined;
};

export function CodeBlock({ text, language, gap, isTold }: CodeProps): VNode {
  return (
    <figure class="code">
      {language !== '' && <figcaption>{language}</figcaption>}
      <Copy label="Copy the code" text={() => text} />
      <pre>
        <code>
          <Code text={text} language={language} gap={gap} isTold={isTold} />
        </code>
      </pre>
    </figure>
  );
}
