import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { WaitingChanges } from '../components/changes/waiting.tsx';
import { Composer } from '../components/composer/composer.tsx';
import { Queued } from '../components/composer/queued.tsx';
import { place, short } from '../components/controls/format.ts';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { save } from '../components/controls/save.ts';
import { Items } from '../components/conversation/items.tsx';
import { Pickers } from '../components/conversation/pickers.tsx';
import { SessionMenu } from '../components/conversation/session-menu.tsx';
import { Elsewhere, RequestCard } from '../components/requests/request.tsx';
import { ask, status } from '../socket.ts';
import { conversation, requests, type Shown, sessions, watch } from '../state.ts';

export function Chat({ rest: sessionId }: { readonly rest: string }): VNode {
  const [problem, setProblem] = useState('');
  const isOpen = status.value === 'open';
  useEffect(() => {
    if (isOpen) watch(sessionId).catch((error: Error) => setProblem(error.message));
  }, [sessionId, isOpen]);
  const shown = conversation(sessionId);
  if (problem !== '') return <p class="problem">{problem}</p>;
  if (!shown) return <p class="quiet-text centred">…</p>;
  return <Open key={sessionId} sessionId={sessionId} shown={shown} />;
}

function Open({ sessionId, shown }: { readonly sessionId: string; readonly shown: Shown }): VNode {
  void shown.around.value;
  const [problem, setProblem] = useState('');
  const { isRunning, options, commands, accepts, usage, items } = shown.conversation;
  const row = sessions.value.get(sessionId);
  const mine = requests.value.filter((request) => request.sessionId === sessionId);
  const [request] = mine;
  const isStored = row?.state === 'stored';
  return (
    <div class="chat">
      <header class="bar">
        <a class="back narrow-only" href="#/" aria-label="Sessions">
          <Icon name="back" />
        </a>
        <div class="about">
          <h1 title={row?.title}>{row?.title || 'New session'}</h1>
          <p>
            <span class="chip">{row?.agent}</span> <span title={row?.cwd}>{place(row?.cwd ?? '')}</span>
            {usage && (
              <span title={`${usage.used} of ${usage.size} tokens of context`}>
                {' · '}
                <meter min={0} max={usage.size} value={usage.used} /> {short(usage.used)} / {short(usage.size)}
                {usage.cost !== undefined && ` · ${usage.cost}`}
              </span>
            )}
          </p>
        </div>
        <Pickers
          sessionId={sessionId}
          options={row?.isFromClient ? [] : options}
          isBegun={items.some((item) => item.kind === 'message' && item.role === 'user')}
        />
        {items.length > 0 && (
          <button
            type="button"
            class="quiet wide-only"
            title="Save the transcript as Markdown"
            onClick={() => void download(sessionId).catch((error: Error) => setProblem(error.message))}
          >
            Export
          </button>
        )}
        {row && <SessionMenu row={row} />}
        {!isStored && !row?.isFromClient && (
          <button
            type="button"
            class="quiet"
            title="Close the session (it stays in the list)"
            onClick={() => void ask('close', { sessionId }).catch(() => {})}
          >
            Close
          </button>
        )}
      </header>
      <Scroll shown={shown} cwd={row?.cwd ?? ''} />
      <footer>
        {request && <RequestCard key={request.requestId} request={request} isCurrent isInSession />}
        {mine.length > 1 && <p class="quiet-text">{mine.length - 1} more pending</p>}
        {!isRunning && <WaitingChanges sessionId={sessionId} cwd={row?.cwd ?? ''} />}
        <Elsewhere sessionId={sessionId} />
        <Problem text={problem} />
        {isStored && items.length > 0 && <p class="quiet-text centred">From the transcript. Send a prompt to reopen the session.</p>}
        {!isStored && <Queued sessionId={sessionId} />}
        {row?.isFromClient && !isStored ? (
          <Held sessionId={sessionId} isRunning={isRunning} />
        ) : (
          <Composer sessionId={sessionId} isRunning={isRunning} commands={commands} accepts={accepts} />
        )}
      </footer>
    </div>
  );
}

async function download(sessionId: string): Promise<void> {
  const { text } = await ask('export', { sessionId, format: 'md' });
  save(`${sessionId}.md`, [text], 'text/markdown');
}

/** A session of the attached editor, which is prompted there. */
function Held({ sessionId, isRunning }: { readonly sessionId: string; readonly isRunning: boolean }): VNode {
  return (
    <div class="held">
      The editor owns this session. Here you can watch it, answer its requests and cancel the turn.
      {isRunning && (
        <button type="button" class="danger" onClick={() => void ask('cancel', { sessionId }).catch(() => {})}>
          Cancel the turn
        </button>
      )}
    </div>
  );
}

/** Follows new entries unless the user has scrolled away. */
function Scroll({ shown, cwd }: { readonly shown: Shown; readonly cwd: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const [element, content] = [box.current, inner.current];
    if (!element || !content) return;
    const stick = () => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    };
    const observer = new ResizeObserver(stick);
    observer.observe(content);
    observer.observe(element);
    stick();
    return () => observer.disconnect();
  }, [shown]);
  return (
    <div
      class="scroll"
      ref={box}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      <div class="items" ref={inner} role="log" aria-label="Conversation">
        <Items shown={shown} cwd={cwd} />
        <Busy shown={shown} />
      </div>
    </div>
  );
}

function Busy({ shown }: { readonly shown: Shown }): VNode | null {
  void shown.around.value;
  return shown.conversation.isRunning ? <div class="busy" role="status" aria-label="The agent is working" /> : null;
}
