// The layout around the screens: navigation, recent sessions, pending requests.
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ago } from './components/controls/format.ts';
import { Icon } from './components/controls/icon.tsx';
import { ConfirmLink } from './components/controls/link.tsx';
import { route, toSession } from './route.ts';
import { SCREENS, screenOf } from './screens.ts';
import { refusal, status } from './socket.ts';
import { isReady, newestFirst, requests, version } from './state.ts';

export function App(): VNode {
  const waiting = requests.value.length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Switchboard' : `(${waiting}) Switchboard`;
  }, [waiting]);
  if (status.value === 'out') return <Out />;
  return (
    <div class={`app on-${route.value.screen || 'sessions'}`}>
      <Side />
      <main>
        {status.value === 'lost' && (
          <p class="lost" role="status">
            Connection lost. Reconnecting… Nothing is lost while switchboard still runs.
          </p>
        )}
        {isReady.value ? <Here /> : <p class="quiet-text centred">Connecting…</p>}
      </main>
      <ConfirmLink />
    </div>
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
    if (isHere) element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
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
