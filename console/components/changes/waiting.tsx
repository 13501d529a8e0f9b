// Changes of a session at the sandbox level `review` that wait: each with its diff, to be applied or dropped.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WaitingChange } from '../../../src/console/protocol/waiting-changes.ts';
import { ask, status } from '../../socket.ts';
import { Confirm } from '../controls/dialog.tsx';
import { later } from '../controls/later.tsx';
import { Problem } from '../controls/problem.tsx';

const Diff = later(() => import('./diff.tsx').then((loaded) => loaded.Diff), 'content');

/** Shown between turns; it looks again after each one. */
export function WaitingChanges({ sessionId, cwd }: { readonly sessionId: string; readonly cwd: string }): VNode | null {
  const [changes, show] = useState<readonly WaitingChange[]>([]);
  const [report, setReport] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [dropping, askAbout] = useState<readonly WaitingChange[]>();
  const isOpen = status.value === 'open';
  const failed = (error: Error) => setProblem(error.message);
  const look = () => ask('waitingChanges', { sessionId }).then((found) => show(found.changes));
  useEffect(() => {
    if (isOpen) look().catch(failed);
  }, [sessionId, isOpen]);
  async function decide(how: 'apply' | 'drop', chosen: readonly WaitingChange[]): Promise<void> {
    setProblem('');
    setBusy(true);
    try {
      const result = await ask('decideChanges', { sessionId, how, prints: chosen.map(({ print }) => print) });
      setReport(result.report);
      show(result.changes);
    } catch (error) {
      failed(error as Error);
      await look().catch(failed);
    } finally {
      setBusy(false);
    }
  }
  if (changes.length === 0 && report.length === 0 && problem === '') return null;
  const buttons = (chosen: readonly WaitingChange[], of: string) => (
    <div class="buttons">
      <button type="button" class="primary" aria-label={`Apply ${of}`} disabled={isBusy} onClick={() => void decide('apply', chosen)}>
        {chosen === changes ? 'Apply all' : 'Apply'}
      </button>
      <button type="button" class="danger" aria-label={`Drop ${of}`} disabled={isBusy} onClick={() => askAbout(chosen)}>
        {chosen === changes ? 'Drop all' : 'Drop'}
      </button>
    </div>
  );
  return (
    <section class="request-card" aria-label="Waiting changes">
      {changes.length > 0 && (
        <header>
          <h2>{changes.length === 1 ? '1 change waits' : `${changes.length} changes wait`} to be applied to the project</h2>
          {changes.length > 1 && buttons(changes, 'all changes')}
        </header>
      )}
      {changes.map((change) => (
        <details key={change.print} open={changes.length < 4}>
          <summary>{change.line}</summary>
          {change.note !== undefined && <p class="note">{change.note}</p>}
          {(change.oldText !== undefined || change.newText !== undefined) && (
            <Diff path={change.path} oldText={change.oldText} newText={change.newText ?? ''} cwd={cwd} />
          )}
          {buttons([change], change.path)}
        </details>
      ))}
      {report.length > 0 && (
        <ul role="status">
          {report.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
      )}
      <Problem text={problem} />
      {dropping && (
        <Confirm
          title={dropping.length === 1 ? 'Drop this change' : `Drop ${dropping.length} changes`}
          confirmLabel="Drop"
          look="danger"
          action={() => {
            askAbout(undefined);
            void decide('drop', dropping);
          }}
          close={() => askAbout(undefined)}
        >
          <p>The project stays as it is, and what the agent wrote is gone.</p>
          <ul>
            {dropping.slice(0, 20).map(({ print, line }) => (
              <li key={print}>{line}</li>
            ))}
            {dropping.length > 20 && <li>and {dropping.length - 20} more</li>}
          </ul>
        </Confirm>
      )}
    </section>
  );
}
