// Session actions besides prompting, if its agent supports them.
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { SessionRow } from '../../../src/console/protocol/state.ts';
import { go, toSession } from '../../route.ts';
import { ask } from '../../socket.ts';
import { agents } from '../../state.ts';
import { AskText } from '../controls/ask-text.tsx';
import { Confirm } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';

export function SessionMenu({ row }: { readonly row: SessionRow }): VNode | null {
  const [open, setOpen] = useState<'rename' | 'delete'>();
  const [problem, setProblem] = useState('');
  const menu = useRef<HTMLDetailsElement>(null);
  const { sessionId, title } = row;
  const can = new Set(agents.value.find(({ name }) => name === row.agent)?.capabilities);
  const isAble = (what: string) => can.has(`sessionCapabilities.${what}`);
  if (row.isFromClient || !['title', 'fork', 'delete'].some(isAble)) return null;
  const choose = (action: () => void) => () => {
    menu.current?.removeAttribute('open');
    setProblem('');
    action();
  };
  const attempt = (action: () => Promise<void>) => void action().catch((error: Error) => setProblem(error.message));
  const close = () => setOpen(undefined);
  return (
    <>
      <details
        class="menu"
        ref={menu}
        onKeyDown={({ key }) => {
          if (key === 'Escape') menu.current?.removeAttribute('open');
        }}
      >
        <summary aria-label="More actions" title="More">
          ⋯
        </summary>
        <div class="choices">
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
              onClick={choose(() => attempt(async () => go(toSession((await ask('fork', { sessionId })).sessionId))))}
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
      <Problem text={problem} />
      {open === 'rename' && (
        <AskText
          title="Rename the session"
          label="Title"
          confirmLabel="Rename"
          value={title}
          maxLength={400}
          take={(name) => attempt(async () => void (await ask('rename', { sessionId, title: name })))}
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
            attempt(async () => {
              await ask('delete', { sessionId });
              go('#/');
            });
          }}
          close={close}
        >
          <p>“{title || 'New session'}” and its records are deleted, here and at its agent. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}
