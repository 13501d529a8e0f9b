// The prompts that wait for the end of the turn, to be edited or removed.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { QueuedPrompt } from '../../../src/console/protocol/queue.ts';
import { ask, subscribe } from '../../socket.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';

export function Queued({ sessionId }: { readonly sessionId: string }): VNode | null {
  const [prompts, show] = useState<readonly QueuedPrompt[]>([]);
  const [edited, edit] = useState<QueuedPrompt>();
  const [problem, setProblem] = useState('');
  useEffect(() => subscribe('queued', { sessionId }, (news) => show(news.prompts)), [sessionId]);
  const change = (id: string, text: string | null) => {
    setProblem('');
    ask('changeQueued', { sessionId, id, text }).catch((error: Error) => setProblem(error.message));
  };
  return (
    <>
      {prompts.length > 0 && (
        <section class="queued" aria-label="Waiting prompts">
          <h2>{prompts.length === 1 ? '1 prompt waits' : `${prompts.length} prompts wait`} for the end of the turn</h2>
          <ol>
            {prompts.map((prompt) => (
              <li key={prompt.id}>
                <span>{prompt.text || 'attachments'}</span>
                {prompt.isWhole && (
                  <button type="button" class="quiet" aria-label={`Edit ${prompt.text.slice(0, 60)}`} onClick={() => edit(prompt)}>
                    Edit
                  </button>
                )}
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${prompt.text.slice(0, 60)}`}
                  onClick={() => change(prompt.id, null)}
                >
                  Remove
                </button>
              </li>
            ))}
          </ol>
        </section>
      )}
      <Problem text={problem} />
      {edited && <Edit prompt={edited} take={(text) => change(edited.id, text)} close={() => edit(undefined)} />}
    </>
  );
}

function Edit(props: { readonly prompt: QueuedPrompt; readonly take: (text: string) => void; readonly close: () => void }): VNode {
  const { prompt, take, close } = props;
  const [text, setText] = useState(prompt.text);
  return (
    <Dialog title="Edit the prompt" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          take(text);
          close();
        }}
      >
        <textarea aria-label="Waiting prompt" rows={6} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
