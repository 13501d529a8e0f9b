// Previews a file that an agent names.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatActions } from '../../../src/console/protocol/chat.ts';
import { ask } from '../../socket.ts';
import { Code } from '../changes/code.tsx';
import { Icon } from '../controls/icon.tsx';
import { Problem } from '../controls/problem.tsx';

export function Preview({ sessionId, uri, name }: { readonly sessionId: string; readonly uri: string; readonly name: string }): VNode {
  const [found, setFound] = useState<ChatActions['preview']['result']>();
  const [problem, setProblem] = useState('');
  const look = () => {
    setProblem('');
    ask('preview', { sessionId, uri }).then(setFound, (error: Error) => setProblem(error.message));
  };
  return (
    <details
      class="resource"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && !found) look();
      }}
    >
      <summary title={uri}>
        <Icon name="file" /> {name}
      </summary>
      <Problem text={problem} />
      {found && (
        <pre>
          <Code text={found.text} language={/\.(\w+)$/.exec(uri)?.[1] ?? ''} />
        </pre>
      )}
      {found?.isCut && <p class="quiet-text">The file continues.</p>}
    </details>
  );
}
