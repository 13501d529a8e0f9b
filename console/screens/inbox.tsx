import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ago } from '../components/controls/format.ts';
import { Elsewhere, isTyping, RequestCard } from '../components/requests/request.tsx';
import { requests, settled } from '../state.ts';

/** Requests of all sessions, oldest first. `j` and `k` move to the next and the previous one. */
export function Inbox(): VNode {
  const [at, setAt] = useState(0);
  const open = requests.value.toSorted((a, b) => a.at - b.at);
  const current = Math.min(at, open.length - 1);
  useEffect(() => {
    const pressed = ({ key, target }: KeyboardEvent) => {
      if (isTyping(target)) return;
      if (key === 'j') setAt(Math.min(current + 1, open.length - 1));
      if (key === 'k') setAt(Math.max(current - 1, 0));
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [current, open.length]);
  const [waiting] = open;
  return (
    <div class="screen">
      <header class="bar">
        <h1>Requests</h1>
        {waiting && <span class="dim">oldest request: {ago(waiting.at)}</span>}
      </header>
      <div class="body inbox">
        <Elsewhere />
        {open.length === 0 && (
          <div class="empty">
            <p>No pending requests.</p>
          </div>
        )}
        {open.map((request, index) => (
          <div key={request.requestId} class={index === current ? 'entry current' : 'entry'}>
            <RequestCard request={request} isCurrent={index === current} />
          </div>
        ))}
        {settled.value.length > 0 && (
          <section class="answered">
            <h2>Answered</h2>
            <ul>
              {settled.value.toReversed().map(({ request, outcome, answeredBy, isElsewhere }) => (
                <li key={request.requestId}>
                  <b>{outcome}</b> — {request.title}{' '}
                  <span class="dim">{answeredBy === undefined ? '' : isElsewhere ? 'elsewhere' : 'here'}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}
