// Session actions besides prompting: its agent, export, close, and what the agent supports.
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { SessionRow } from '../../../src/console/protocol/state.ts';
import { go, toSession } from '../../route.ts';
import { ask } from '../../socket.ts';
import { agents } from '../../state.ts';
import { AgentPanel } from '../agents/agent-panel.tsx';
import { AskText } from '../controls/ask-text.tsx';
import { Confirm } from '../controls/dialog.tsx';
import { Icon } from '../controls/icon.tsx';
import { save } from '../controls/save.ts';

type Props = {
  readonly row: SessionRow;
  readonly hasItems: boolean;
  /** Shows the error of an action that failed. */
  readonly attempt: (action: Promise<unknown>) => void;
};

export function SessionMenu({ row, hasItems, attempt }: Props): VNode {
  const [open, setOpen] = useState<'rename' | 'delete' | 'agent'>();
  const menu = useRef<HTMLDetailsElement>(null);
  const { sessionId, title } = row;
  const can = new Set(agents.value.find(({ name }) => name === row.agent)?.capabilities);
  const isAble = (what: string) => !row.isFromClient && can.has(`sessionCapabilities.${what}`);
  const choose = (action: () => void) => () => {
    menu.current?.removeAttribute('open');
    action();
  };
  const close = () => setOpen(undefined);
  const exportAll = choose(() => attempt(download(sessionId)));
  const end = choose(() => attempt(ask('close', { sessionId })));
  const canClose = row.state !== 'stored' && !row.isFromClient;
  const hasMore = ['title', 'fork', 'delete'].some(isAble);
  return (
    <>
      <button type="button" class="quiet" title="Output on stderr, host tools and state of the agent" onClick={() => setOpen('agent')}>
        <Icon name="agents" /> <span class="wide-only">Agent</span>
        <span class="hidden narrow-only">Agent</span>
      </button>
      {hasItems && (
        <button type="button" class="quiet wide-only" title="Save the transcript as Markdown" onClick={exportAll}>
          Export
        </button>
      )}
      {canClose && (
        <button type="button" class="quiet wide-only" title="Close the session (it stays in the list)" onClick={end}>
          Close
        </button>
      )}
      <details
        class={hasMore ? 'menu' : 'menu narrow-only'}
        ref={menu}
        onKeyDown={({ key }) => {
          if (key === 'Escape') menu.current?.removeAttribute('open');
        }}
      >
        <summary aria-label="More actions" title="More">
          ⋯
        </summary>
        <div class="choices">
          {hasItems && (
            <button type="button" class="quiet narrow-only" onClick={exportAll}>
              Export
            </button>
          )}
          {canClose && (
            <button type="button" class="quiet narrow-only" onClick={end}>
              Close
            </button>
          )}
          {isAble('title') && (
            <button type="button" class="quiet" onClick={choose(() => setOpen('rename'))}>
              Rename
            </button>
          )}
          {isAble('fork') && (
            <button
              type="button"
              class="quiet"
              title="Starts another session from this conversation"
              onClick={choose(() => attempt(ask('fork', { sessionId }).then((forked) => go(toSession(forked.sessionId)))))}
            >
              Fork
            </button>
          )}
          {isAble('delete') && (
            <button type="button" class="quiet danger" onClick={choose(() => setOpen('delete'))}>
              Delete
            </button>
          )}
        </div>
      </details>
      {open === 'agent' && <AgentPanel row={row} close={close} />}
      {open === 'rename' && (
        <AskText
          title="Rename the session"
          label="Title"
          confirmLabel="Rename"
          value={title}
          maxLength={400}
          take={(name) => attempt(ask('rename', { sessionId, title: name }))}
          close={close}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title="Delete this session?"
          confirmLabel="Delete"
          look="danger"
          action={() => {
            close();
            attempt(ask('delete', { sessionId }).then(() => go('#/')));
          }}
          close={close}
        >
          <p>“{title || 'New session'}” and its records are deleted, here and at its agent. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

async function download(sessionId: string): Promise<void> {
  const { text } = await ask('export', { sessionId, format: 'md' });
  save(`${sessionId}.md`, [text], 'text/markdown');
}
