import type { RefObject, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Usage } from '../../src/console/protocol/conversation.ts';
import type { SessionRow } from '../../src/console/protocol/state.ts';
import { WaitingChanges } from '../components/changes/waiting.tsx';
import { Composer, type ComposerHandle } from '../components/composer/composer.tsx';
import { Queued } from '../components/composer/queued.tsx';
import { place, short, shownId } from '../components/controls/format.ts';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { Pickers } from '../components/conversation/pickers.tsx';
import { Scroll } from '../components/conversation/scroll.tsx';
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
  if (!sessions.value.has(sessionId)) return <Unknown key={sessionId} sessionId={sessionId} />;
  return <Open key={sessionId} sessionId={sessionId} shown={shown} />;
}

/** The row of a new session arrives a moment after its conversation. */
const ROW_ARRIVES_MS = 400;

function Unknown({ sessionId }: { readonly sessionId: string }): VNode {
  const [isSure, setSure] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSure(true), ROW_ARRIVES_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isSure) return <p class="quiet-text centred">…</p>;
  return (
    <div class="empty">
      <h1>There is no such session</h1>
      <p>
        No session has the id <code>{shownId(sessionId)}</code>. It was deleted, or it belongs to another switchboard.
      </p>
      <a class="button" href="#/">
        All sessions
      </a>
    </div>
  );
}

function Open({ sessionId, shown }: { readonly sessionId: string; readonly shown: Shown }): VNode {
  void shown.around.value;
  const [isOver, setOver] = useState(false);
  const follow = useRef(() => {});
  const composer = useRef<ComposerHandle | undefined>(undefined);
  const { isRunning, items } = shown.conversation;
  const row = sessions.value.get(sessionId) as SessionRow;
  const mine = requests.value.filter((request) => request.sessionId === sessionId);
  const [request] = mine;
  const isStored = row.state === 'stored';
  const isHeld = row.isFromClient === true && !isStored;
  const card = useRef<HTMLElement>(null);
  const hasFiles = (event: DragEvent) => !isHeld && event.dataTransfer?.types.includes('Files') === true;
  return (
    <div
      class={isOver ? 'chat over' : 'chat'}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        if (!hasFiles(event)) return;
        event.preventDefault();
        composer.current?.add(event.dataTransfer?.files ?? []);
      }}
    >
      <Header row={row} shown={shown} />
      <Scroll shown={shown} cwd={row.cwd} follow={follow} />
      <footer>
        {request && <RequestCard key={request.requestId} request={request} isCurrent isInSession card={card} leave={focusOf(composer)} />}
        {mine.length > 1 && <p class="quiet-text">{mine.length - 1} more pending</p>}
        {!isRunning && <WaitingChanges sessionId={sessionId} cwd={row.cwd} />}
        <Elsewhere sessionId={sessionId} />
        {isStored && items.length > 0 && <p class="quiet-text centred">From the transcript. Send a prompt to reopen the session.</p>}
        {!isStored && <Queued sessionId={sessionId} />}
        {isHeld ? (
          <Held sessionId={sessionId} isRunning={isRunning} />
        ) : (
          <>
            <Composer
              shown={shown}
              isRunning={isRunning}
              handle={composer}
              onSent={() => follow.current()}
              toRequest={request && (() => card.current?.focus())}
            />
            <Pickers
              sessionId={sessionId}
              options={row.isFromClient ? [] : shown.conversation.options}
              isBegun={items.some((item) => item.kind === 'message' && item.role === 'user')}
            />
          </>
        )}
      </footer>
    </div>
  );
}

const focusOf = (composer: RefObject<ComposerHandle | undefined>) => () => composer.current?.focus();

function Header({ row, shown }: { readonly row: SessionRow; readonly shown: Shown }): VNode {
  void shown.around.value;
  const [problem, setProblem] = useState('');
  const { usage, items } = shown.conversation;
  const attempt = (action: Promise<unknown>) => void action.catch((error: Error) => setProblem(error.message));
  return (
    <>
      <header class="bar">
        <a class="back narrow-only" href="#/" aria-label="Sessions">
          <Icon name="back" />
        </a>
        <div class="about">
          <h1 title={row.title}>{row.title || 'New session'}</h1>
          <p>
            <span class="chip">{row.agent}</span> <span title={row.cwd}>{place(row.cwd)}</span>
            {usage && <Context usage={usage} />}
          </p>
        </div>
        <SessionMenu row={row} hasItems={items.length > 0} attempt={attempt} />
      </header>
      <Problem text={problem} />
    </>
  );
}

/** From these shares on, the context is nearly full. */
const HIGH = 0.75;
const FULL = 0.9;

function Context({ usage: { used, size, cost } }: { readonly usage: Usage }): VNode {
  const share = size > 0 ? used / size : 0;
  const level = share >= FULL ? 'full' : share >= HIGH ? 'high' : 'low';
  const advice = level === 'full' ? '; the agent will soon compact or refuse' : '';
  return (
    <span
      class={`context ${level}`}
      title={`${used.toLocaleString()} of ${size.toLocaleString()} tokens of context are used (${Math.round(share * 100)} %)${advice}`}
    >
      <span class="wide-only">· </span>
      <meter min={0} max={size} low={size * HIGH} high={size * FULL} optimum={0} value={used} aria-label="Context used" /> {short(used)} /{' '}
      {short(size)}
      {level !== 'low' && <b> {Math.round(share * 100)} %</b>}
      {cost !== undefined && ` · ${cost}`}
    </span>
  );
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
