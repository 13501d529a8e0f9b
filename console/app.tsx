// The layout around the screens: navigation, recent sessions, pending requests.
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ago } from './components/controls/format.ts';
import { Icon } from './components/controls/icon.tsx';
import { ConfirmLink } from './components/controls/link.tsx';
import { type Route, route, toSession } from './route.ts';
import { SCREENS, screenOf } from './screens.ts';
import { notice, refusal, status } from './socket.ts';
import { isReady, newestFirst, requests, sessions, version } from './state.ts';

export function App(): VNode {
  const main = useRef<HTMLElement>(null);
  const title = titleOf(route.value);
  const waiting = requests.value.length;
  useEffect(() => {
    document.title = waiting === 0 ? title : `(${waiting}) ${title}`;
  }, [waiting, title]);
  if (status.value === 'out') return <Out />;
  return (
    <div class={`app on-${route.value.screen || 'sessions'}`}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the main part
      </button>
      <Side />
      <main ref={main} tabIndex={-1}>
        {status.value === 'lost' && (
          <p class="lost" role="status">
            Connection lost. Reconnecting… Nothing is lost while switchboard still runs.
          </p>
        )}
        {notice.value !== '' && (
          <p class="lost" role="status">
            {notice.value}{' '}
            <button type="button" class="quiet" onClick={() => (notice.value = '')}>
              OK
            </button>
          </p>
        )}
        {isReady.value ? <Here /> : <p class="quiet-text centred">Connecting…</p>}
      </main>
      <ConfirmLink />
      <Announced />
    </div>
  );
}

/** Names the session and its agent, or the screen. */
function titleOf({ screen, rest }: Route): string {
  const row = screen === 'session' ? sessions.value.get(rest) : undefined;
  if (row) return `${row.title || 'New session'} · ${row.agent} – Switchboard`;
  const { label, name } = screenOf(screen);
  return name === 'new' ? 'New session – Switchboard' : label === undefined || name === '' ? 'Switchboard' : `${label} – Switchboard`;
}

/** Tells screen readers of each new request, on every screen. */
function Announced(): VNode {
  const [text, setText] = useState('');
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const fresh = requests.value.filter(({ requestId }) => !known.current.has(requestId));
    known.current = new Set(requests.value.map(({ requestId }) => requestId));
    const [first] = fresh;
    if (first) setText(`${first.agent} asks: ${first.title}${fresh.length > 1 ? `, and ${fresh.length - 1} more` : ''}`);
  }, [requests.value]);
  return (
    <p class="hidden" aria-live="assertive" data-announced>
      {text}
    </p>
  );
}

function Here(): VNode {
  const { screen, rest } = route.value;
  const { name, Show } = screenOf(screen);
  return <Show key={name} rest={rest} />;
}

function Side(): VNode {
  const waiting = requests.value.length;
  const here = route.value;
  const { name: current, under } = screenOf(here.screen);
  return (
    <nav class="side" aria-label="Main">
      <a class="brand" href="#/">
        <img src="/icon.svg" alt="" width={22} height={22} /> Switchboard <small>{version.value}</small>
      </a>
      <div class="places">
        {SCREENS.map(
          ({ name, label, icon = name }) =>
            label !== undefined && (
              <Place key={name} to={`#/${name}`} icon={icon} isHere={name === (under ?? current)}>
                {label}{' '}
                {name === 'inbox' && waiting > 0 && (
                  <span class="badge">
                    {waiting}
                    <span class="hidden"> waiting</span>
                  </span>
                )}
              </Place>
            ),
        )}
      </div>
      <a class="button new" href="#/new">
        <Icon name="plus" /> New session
      </a>
      <ul class="recent" aria-label="Recent sessions">
        {newestFirst.value.slice(0, 40).map(({ sessionId, title, agent, state, at }) => (
          <li key={sessionId}>
            <a href={toSession(sessionId)} aria-current={here.screen === 'session' && here.rest === sessionId ? 'page' : undefined}>
              <span class={`dot ${state}`} />
              <span class="title">{title || 'New session'}</span>
              <small>
                {agent} · {ago(at)}
              </small>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Place({ to, icon, isHere, children }: { to: string; icon: string; isHere: boolean; children: ComponentChildren }): VNode {
  const element = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    const { current } = element;
    const list = current?.parentElement;
    if (!isHere || !list) return;
    // Not scrollIntoView: the next Tab would start here, instead of at the top of the page.
    const look = () => {
      list.scrollLeft = current.offsetLeft - list.offsetLeft - (list.clientWidth - current.clientWidth) / 2;
    };
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, [isHere]);
  return (
    <a class="place" ref={element} href={to} aria-current={isHere ? 'page' : undefined}>
      <Icon name={icon} /> <span>{children}</span>
    </a>
  );
}

function Out(): VNode {
  return (
    <main class="out">
      <img src="/icon.svg" alt="" width={48} height={48} />
      <h1>Switchboard</h1>
      <p>{refusal.value}</p>
      <p class="dim">
        In the terminal where <code>switchboard serve</code> runs, press Enter for a new link. When attached to an editor, open the file
        named in the editor’s log.
      </p>
    </main>
  );
}
