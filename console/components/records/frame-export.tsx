// Saves frames: the matching ones as lines of the frame log, or one connection as a recording.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../../socket.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';
import { save } from '../controls/save.ts';

type Piece = { readonly text: string; readonly next?: number | undefined };

/** In several requests: an export may be very large. */
async function collect(name: string, piece: (after: number) => Promise<Piece>): Promise<void> {
  const texts: string[] = [];
  let after: number | undefined = -1;
  while (after !== undefined) {
    const { text, next }: Piece = await piece(after);
    texts.push(text);
    after = next;
  }
  if (texts.every((text) => text === '')) throw new Error('Nothing to save: the content of these frames is not kept.');
  save(`${name}-${new Date().toISOString().slice(0, 19)}.jsonl`, texts, 'application/jsonl');
}

type Props = {
  readonly filter: string;
  readonly hasOthers: boolean;
  /** The names of the connections. */
  readonly connections: readonly string[];
  readonly close: () => void;
};

export function FrameExport({ filter, hasOthers, connections, close }: Props): VNode {
  const [problem, setProblem] = useState('');
  const [leg, setLeg] = useState(connections[0] ?? '');
  const attempt = (action: Promise<void>) => void action.then(close, (error: Error) => setProblem(error.message));
  return (
    <Dialog title="Export frames" onClose={close}>
      <section>
        <h3>Matching frames</h3>
        <p class="dim">JSON Lines, as in the frame log, redacted.</p>
        <div>
          <button type="button" onClick={() => attempt(collect('frames', (after) => ask('exportFrames', { filter, after, hasOthers })))}>
            Save the frames
          </button>
        </div>
      </section>
      <section>
        <h3>A recording</h3>
        <p class="dim">
          All frames of one connection that are kept with their content, redacted. <code>switchboard replay FILE</code> plays it back as an
          agent.
        </p>
        <div class="buttons start">
          <label class="picker">
            <span>Connection</span>
            <select value={leg} onChange={({ currentTarget }) => setLeg(currentTarget.value)}>
              {connections.map((name) => (
                <option key={name} value={name}>
                  {name === 'editor' ? 'client' : name}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            disabled={leg === ''}
            onClick={() => attempt(collect('recording', (after) => ask('exportRecording', { leg, after })))}
          >
            Save the recording
          </button>
        </div>
      </section>
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
