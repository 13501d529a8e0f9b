// Sends a client's request once more, after confirmation.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FrameRow } from '../../../src/console/protocol/frames.ts';
import { ask } from '../../socket.ts';
import { Confirm } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';

/** What the server accepts, too. */
const METHODS = /^(?:session\/(?:prompt|set_mode|set_model|set_config_option)$|_)/;

export const canResend = ({ kind, dir, method, isOther }: FrameRow): boolean =>
  kind === 'request' && dir === 'fromEditor' && !isOther && METHODS.test(method ?? '');

export function Resend({ n, method, body }: { readonly n: number; readonly method: string; readonly body: string | undefined }): VNode {
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const [answer, setAnswer] = useState<string>();
  const send = () => {
    setAsking(false);
    setProblem('');
    ask('resendFrame', { n }).then(
      (sent) => setAnswer(sent.answer),
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <>
      <div class="buttons">
        <button type="button" disabled={body === undefined} onClick={() => setAsking(true)}>
          Send again…
        </button>
      </div>
      <Problem text={problem} />
      {answer !== undefined && (
        <section aria-label="The answer">
          <p class="dim">The answer to the request that you sent again:</p>
          <pre>{answer}</pre>
        </section>
      )}
      {isAsking && (
        <Confirm title={`Send ${method} again?`} confirmLabel="Send" look="danger" action={send} close={() => setAsking(false)}>
          <p>The agent gets this request once more and acts on it. Policy and records apply, as to any request of the console.</p>
          <pre class="address-whole">{body}</pre>
        </Confirm>
      )}
    </>
  );
}
