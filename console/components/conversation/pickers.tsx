// Session options: agent, mode, model and others the agent offers.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Option } from '../../../src/console/protocol/conversation.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

export function Pickers({
  sessionId,
  options,
  isBegun,
}: {
  sessionId: string;
  options: readonly Option[];
  isBegun: boolean;
}): VNode | null {
  const [problem, setProblem] = useState('');
  const set = (id: string, value: string | boolean) => {
    setProblem('');
    ask('option', { sessionId, option: id, value }).catch((error: Error) => setProblem(error.message));
  };
  if (options.length === 0) return null;
  return (
    <div class="pickers">
      {options.map((option) =>
        option.type === 'boolean' ? (
          <label class="picker" key={option.id}>
            <input type="checkbox" checked={option.value} onChange={({ currentTarget }) => set(option.id, currentTarget.checked)} />
            <span>{option.name}</span>
          </label>
        ) : (
          <label class="picker" key={option.id}>
            <span>{option.name}</span>
            <select
              value={option.value}
              title={option.choices.find(({ value }) => value === option.value)?.description}
              disabled={option.category === '_agent' && isBegun}
              onChange={({ currentTarget }) => set(option.id, currentTarget.value)}
            >
              {option.choices.map(({ value, name }) => (
                <option value={value}>{name}</option>
              ))}
            </select>
          </label>
        ),
      )}
      <Problem text={problem} />
    </div>
  );
}
