// The frame around the screens: where one can go, what runs, who waits.
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from './parts/icon.tsx';
import { later } from './parts/later.tsx';
import { LinkQuestion } from './parts/link.tsx';
import { ago } from './parts/words.ts';
import { route, toSession } from './route.ts';
import { Chat } from './screens/chat.tsx';
import { Inbox } from './screens/inbox.tsx';
import { NewSession } from './screens/new-session.tsx';
import { Sessions } from './screens/sessions.tsx';
import { refusal, status } from './socket.ts';
import { isReady, newestFirst, questions, version } from './state.ts';

const Frames = later(() => import('./screens/frames.tsx').then((loaded) => loaded.Frames));
const Agents = later(() => import('./screens/agents.tsx').then((loaded) => loaded.Agents));

export function App(): VNode {
  const waiting = questions.value.length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Switchboard' : `(${waiting}) Switchboard`;
  }, [waiting]);
  if (status.value === 'out') return <Out />;
  return (
    <div class={`app on-${route.value.screen}`}>
      <Side />
      <main>
        {status.value === 'lost' && (
          <p class="lost" role="status">
            The connection was lost. It is being tried again; nothing is missed.
          </p>
        )}
        {isReady.value ? <Screen /> : <p class="quiet-text centred">Connecting…</p>}
      </main>
      <LinkQuestion />
    </div>
  );
}

function Screen(): VNode {
  const here = route.value;
  switch (here.screen) {
    case 'chat':
      return <Chat sessionId={here.sessionId} />;
    case 'inbox':
      return <Inbox />;
    case 'new':
      return <NewSession />;
    case 'frames':
      return <Frames />;
    case 'agents':
      return <Agents />;
    default:
      return <Sessions />;
  }
}

function Side(): VNode {
  const waiting = questions.value.length;
  const here = route.value;
  return (
    <nav class="side" aria-label="Main">
      <a class="brand" href="#/">
        <img src="/icon.svg" alt="" width={22} height={22} /> Switchboard <small>{version.value}</small>
      </a>
      <div class="places">
        <Place to="#/" icon="sessions" isHere={here.screen === 'sessions' || here.screen === 'chat' || here.screen === 'new'}>
          Sessions
        </Place>
        <Place to="#/inbox" icon="inbox" isHere={here.screen === 'inbox'}>
          Questions{' '}
          {waiting > 0 && (
            <span class="badge">
              {waiting}
              <span class="hidden"> waiting</span>
            </span>
          )}
        </Place>
        <Place to="#/frames" icon="frames" isHere={here.screen === 'frames'}>
          Frames
        </Place>
        <Place to="#/agents" icon="agents" isHere={here.screen === 'agents'}>
          Agents
        </Place>
      </div>
      <a class="button new" href="#/new">
        <Icon name="plus" /> New session
      </a>
      <ul class="recent" aria-label="Recent sessions">
        {newestFirst.value.slice(0, 40).map(({ sessionId, title, agent, state, at }) => (
          <li key={sessionId}>
            <a href={toSession(sessionId)} aria-current={here.screen === 'chat' && here.sessionId === sessionId ? 'page' : undefined}>
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
  return (
    <a class="place" href={to} aria-current={isHere ? 'page' : undefined}>
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
        In the terminal where <code>switchboard serve</code> runs, press Enter for a new link.
      </p>
    </main>
  );
}
