// The agent of a session, one click away from it: its state, its output on stderr, and the session's host tools.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { HostTools } from '../../../src/console/protocol/agents.ts';
import type { AgentRow, SessionRow } from '../../../src/console/protocol/state.ts';
import { subscribe } from '../../socket.ts';
import { agents } from '../../state.ts';
import { Copy } from '../controls/copy.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { STATE_LABELS, STEPS } from './labels.ts';

export function AgentPanel({ row, close }: { readonly row: SessionRow; readonly close: () => void }): VNode {
  const [tools, setTools] = useState<readonly HostTools[]>();
  useEffect(
    () => subscribe('agentUse', {}, ({ hostTools }) => setTools(hostTools.filter(({ sessionId }) => sessionId === row.sessionId))),
    [row.sessionId],
  );
  const processes = agents.value.filter(({ name }) => name === row.agent);
  return (
    <Dialog title={`Agent ${row.agent}`} look="large" onClose={close}>
      {processes.length === 0 && <p>The agent is not configured here.</p>}
      {processes.map((agent) => (
        <Process key={agent.id} agent={agent} />
      ))}
      <section aria-label="Host tools">
        <h3>Host tools of this session</h3>
        {tools === undefined ? <p class="dim">…</p> : tools.length === 0 ? <p class="dim">None are offered to this session.</p> : null}
        {tools?.map(({ transport, state, tools: names }) => (
          <>
            <p>
              By {transport}: <span class={state === 'offered' ? 'dim' : 'ok'}>{STEPS[state] ?? state}</span>
            </p>
            <p class="dim">{names.join(', ')}</p>
          </>
        ))}
      </section>
      <div class="buttons">
        <a class="button" href="#/agents">
          All agents
        </a>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Process({ agent: { id, state, pid, version, restarts, lastError, stderr } }: { readonly agent: AgentRow }): VNode {
  const facts = [
    STATE_LABELS[state] ?? state,
    version,
    pid !== undefined && `process ${pid}`,
    restarts > 0 && `${restarts} ${restarts === 1 ? 'crash' : 'crashes'}`,
  ].filter(Boolean);
  return (
    <section aria-label={id}>
      <p>
        <span class={`dot inline ${state}`} /> {id} · {facts.join(' · ')}
      </p>
      {lastError !== undefined && <p class={state === 'ready' ? 'note' : 'problem'}>{lastError}</p>}
      <h3>
        stderr <Copy label="Copy stderr" text={() => stderr.join('\n')} />
      </h3>
      {stderr.length === 0 ? <p class="dim">The agent has written nothing.</p> : <pre class="seen stderr">{stderr.join('\n')}</pre>}
    </section>
  );
}
