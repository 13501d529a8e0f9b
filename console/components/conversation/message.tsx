// A message of the user or the agent, with its time and a button to copy it.
import type { VNode } from 'preact';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import { type Gap, Omitted, useGap } from '../changes/omitted.tsx';
import { Copy } from '../controls/copy.tsx';
import { Icon } from '../controls/icon.tsx';
import { AboutView, BlockView } from './content.tsx';
import { Markdown } from './markdown.tsx';

type MessageItem = Extract<Item, { kind: 'message' }>;

export function Message({ item, sessionId }: { readonly item: MessageItem; readonly sessionId: string }): VNode {
  const { role, text, blocks, about, at } = item;
  if (role === 'thought')
    return (
      <details class="thought">
        <summary>
          <Icon name="thought" /> <span class="first-line">{firstLine(text)}</span>
          <span class="opened">Thoughts</span>
        </summary>
        <Long text={text} draw={markdown} />
      </details>
    );
  const isUser = role === 'user';
  return (
    <div class={`said ${role}`}>
      <article class={`message ${role}`} aria-label={isUser ? 'You' : 'Agent'}>
        {text !== '' && <Long text={text} draw={isUser ? plain : markdown} />}
        {blocks.map((block) => (
          <BlockView block={block} sessionId={isUser ? undefined : sessionId} />
        ))}
      </article>
      <div class="meta">
        {at !== undefined && <Time at={at} />}
        <AboutView about={about} />
        {text !== '' && <Copy label="Copy the message" text={() => item.text} />}
      </div>
    </div>
  );
}

function Time({ at }: { readonly at: number }): VNode {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const short: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', ...(!isToday && { month: 'short', day: 'numeric' }) };
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {date.toLocaleString([], short)}
    </time>
  );
}

type LongProps = { readonly text: string; readonly draw: (text: string, gap: Gap | undefined) => VNode };

const Long = ({ text, draw }: LongProps): VNode => draw(text, useGap(text));

const markdown: LongProps['draw'] = (text, gap) => <Markdown text={text} gap={gap} />;

const plain: LongProps['draw'] = (text, gap) => (
  <>
    <div class="plain">{gap ? text.slice(0, gap.from) : text}</div>
    {gap && <Omitted gap={gap} />}
    {gap && <div class="plain">{text.slice(gap.to)}</div>}
  </>
);

const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};
