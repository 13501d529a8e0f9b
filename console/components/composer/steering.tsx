// What Enter does during a turn, and the other way, where the agent takes prompts into a running turn.
import type { VNode } from 'preact';
import type { AgentRow } from '../../../src/console/protocol/state.ts';

type Other = { readonly how: 'queue' | 'steer'; readonly label: string };
type DuringTurn = { readonly placeholder: string; readonly enter: string; readonly other: Other | undefined };

const ENTER: Readonly<Record<AgentRow['whileRunning'], Omit<DuringTurn, 'other'>>> = {
  queue: { placeholder: 'Next prompt; it waits for the end of the turn', enter: 'it waits for the end of the turn' },
  steer: { placeholder: 'Add to the running turn', enter: 'it joins the running turn' },
  pass: { placeholder: 'Next prompt; the agent gets it at once', enter: 'the agent gets it at once' },
  refuse: { placeholder: 'No prompt is taken during a turn', enter: 'no prompt is taken during a turn' },
};

export function duringTurn(agent: Pick<AgentRow, 'whileRunning' | 'canSteer'> | undefined): DuringTurn {
  const { whileRunning = 'queue', canSteer = false } = agent ?? {};
  const other: Other | undefined = !canSteer
    ? undefined
    : whileRunning === 'steer'
      ? { how: 'queue', label: 'Send after the turn' }
      : { how: 'steer', label: 'Send into the running turn' };
  return { ...ENTER[whileRunning], other };
}

export const Other = ({ label, send }: Other & { readonly send: () => void }): VNode => (
  <div class="other-way">
    <button type="button" class="quiet" onClick={send}>
      {label} <kbd>Ctrl+Enter</kbd>
    </button>
  </div>
);
