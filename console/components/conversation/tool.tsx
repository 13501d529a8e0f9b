// A tool call: title, status, content.
import type { VNode } from 'preact';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import { requests, type Shown, sessions } from '../../state.ts';
import { shortened } from '../controls/format.ts';
import { Icon } from '../controls/icon.tsx';
import { Content, Raw } from './content.tsx';

const STATUS: Readonly<Record<string, string>> = { pending: 'waiting', in_progress: 'running', completed: 'done', failed: 'failed' };
/** What these return is shown as it is: Markdown would lose its indentation. */
const OUTPUT: ReadonlySet<string> = new Set(['read', 'search', 'execute']);
const languageOf = (path = ''): string => /\.(\w+)$/.exec(path)?.[1] ?? '';

type ToolItem = Extract<Item, { kind: 'tool' }>;

/** `version` makes the component render: items change in place. */
export function Tool({ item, shown, cwd }: { item: ToolItem; version: number; shown: Shown; cwd: string }): VNode {
  const { title, toolKind = 'other', status = 'pending', content = [], locations = [], input, output, toolCallId } = item;
  const { sessionId } = shown.conversation;
  const isUnfinished = status === 'pending' || status === 'in_progress';
  const ending = isUnfinished ? endOf(item, shown) : undefined;
  const isTelling = content.some(({ type }) => type === 'diff' || type === 'terminal');
  // The request card shows it while it is pending.
  const isAsked = requests.value.some((request) => request.sessionId === sessionId && request.toolCallId === toolCallId);
  const row = sessions.value.get(sessionId);
  const isOurs = row !== undefined && row.state !== 'stored' && !row.isFromClient;
  const hasMore = content.length > 0 || input !== undefined || output !== undefined;
  const head = (
    <>
      <Icon name={toolKind} />
      <span class="title">{title ?? toolCallId}</span>
      {locations.length > 0 && <span class="where">{[...new Set(locations)].map((path) => shortened(path, cwd)).join(', ')}</span>}
      {ending === undefined ? (
        <span class={`status ${status}`}>{STATUS[status] ?? status}</span>
      ) : (
        <span class="status ended" title="The turn ended before the agent reported the end of this call">
          {ending}
        </span>
      )}
    </>
  );
  if (!hasMore)
    return (
      <div class="tool">
        <div class="head">{head}</div>
      </div>
    );
  return (
    <details class="tool" open={isTelling && !isAsked}>
      <summary class="head">{head}</summary>
      <div class="inside">
        {content.map((one, at) => (
          <Content
            content={one}
            shown={shown}
            cwd={cwd}
            place={isOurs ? { sessionId, toolCallId, at } : undefined}
            language={OUTPUT.has(toolKind) ? languageOf(locations[0]) : undefined}
          />
        ))}
        {input !== undefined && !isTelling && <Raw name="Input" text={input} />}
        {output !== undefined && !content.some(({ type }) => type === 'terminal') && <Raw name="Output" text={output} />}
      </div>
    </details>
  );
}

/** How an unfinished call ended: with its turn. Undefined while the turn runs. */
function endOf({ id }: ToolItem, shown: Shown): string | undefined {
  void shown.around.value; // changes when a turn begins or ends
  const { items, isRunning } = shown.conversation;
  const end = items.find((item) => item.kind === 'end' && item.id > id);
  if (end?.kind === 'end') return end.stopReason === 'cancelled' ? 'cancelled' : 'not finished';
  return isRunning ? undefined : 'not finished';
}
