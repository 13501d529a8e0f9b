// The prompt field: text, slash commands, and the attachments that the agent accepts.
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Accepts, Command } from '../../../src/console/protocol/conversation.ts';
import type { PromptBlock } from '../../../src/console/protocol/sessions.ts';
import { ask } from '../../socket.ts';
import { sessions } from '../../state.ts';
import { AskText } from '../controls/ask-text.tsx';
import { Icon } from '../controls/icon.tsx';
import { ListBox } from '../controls/list-box.tsx';
import { Problem } from '../controls/problem.tsx';
import { savedRule } from '../requests/rule.tsx';
import { type Attached, attach, attachTitle, linkTo, refusalOf } from './attach.ts';
import { Attachments } from './attachments.tsx';

export function Composer(props: {
  readonly sessionId: string;
  readonly isRunning: boolean;
  readonly commands: readonly Command[];
  readonly accepts: Accepts;
}): VNode {
  const { sessionId, isRunning, commands, accepts } = props;
  const [text, setText] = useState('');
  const [attached, show] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState('');
  const [isOver, setOver] = useState(false);
  const [picked, setPicked] = useState(0);
  const [isLinking, setLinking] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  /** The current value: files are read asynchronously, and more may be added meanwhile. */
  const queue = useRef<readonly Attached[]>([]);
  const setAttached = (now: readonly Attached[]) => {
    queue.current = now;
    show(now);
  };

  const cwd = sessions.value.get(sessionId)?.cwd ?? '';
  const matching = /^\/\S*$/.test(text) ? commands.filter(({ name }) => `/${name}`.startsWith(text)).slice(0, 12) : [];
  const chosen = matching[Math.min(picked, matching.length - 1)];

  useEffect(() => {
    area.current?.focus();
  }, [sessionId]);
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight + 2, innerHeight * 0.4)}px`;
  }, [text]);

  async function add(files: Iterable<File>): Promise<void> {
    setProblem('');
    for (const file of files) {
      const made = await attach(file, accepts, queue.current);
      if (typeof made === 'string') setProblem(made);
      else setAttached([...queue.current, made]);
    }
  }
  async function send(): Promise<void> {
    const blocks: PromptBlock[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...attached.map(({ block }) => block)];
    if (blocks.length === 0) return;
    const refused = attached.map((one) => refusalOf(one, accepts)).find((why) => why !== undefined);
    if (refused !== undefined) return setProblem(`Not sent. ${refused}.`);
    setProblem('');
    try {
      const sent = ask('prompt', { sessionId, blocks });
      setText('');
      setAttached([]);
      if (savedRule.value?.sessionId === sessionId) savedRule.value = undefined;
      await sent;
    } catch (error) {
      // Keep the prompt.
      setText((now) => (now === '' ? text : now));
      if (queue.current.length === 0) setAttached(attached);
      setProblem((error as Error).message);
    }
  }
  function complete(command: Command): void {
    setText(`/${command.name} `);
    setPicked(0);
    area.current?.focus();
  }
  function pressed(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (chosen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      setPicked((Math.min(picked, matching.length - 1) + (event.key === 'ArrowDown' ? 1 : matching.length - 1)) % matching.length);
    } else if (chosen && (event.key === 'Tab' || (event.key === 'Enter' && `/${chosen.name}` !== text))) {
      event.preventDefault();
      complete(chosen);
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === 'Escape') area.current?.blur();
  }

  return (
    <div
      class={isOver ? 'composer over' : 'composer'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void add(event.dataTransfer?.files ?? []);
      }}
    >
      <ListBox
        label="Commands"
        entries={matching}
        chosen={chosen}
        pick={complete}
        show={({ name, hint, description }) => (
          <>
            <b>/{name}</b> {hint !== undefined && <i>{hint}</i>} <span class="dim">{description}</span>
          </>
        )}
      />
      <Attachments attached={attached} accepts={accepts} set={setAttached} />
      {isLinking && (
        <AskText
          title="Link a file"
          label="Path"
          confirmLabel="Link"
          spellcheck={false}
          placeholder="src/main.ts"
          take={(path) => setAttached([...attached, linkTo(path, cwd)])}
          close={() => {
            setLinking(false);
            area.current?.focus();
          }}
        >
          <p class="dim">The agent gets its path and may read it. Relative to {cwd}, or absolute.</p>
        </AskText>
      )}
      <div class="writing">
        <button type="button" class="quiet" title={attachTitle(accepts)} aria-label="Attach files" onClick={() => picker.current?.click()}>
          <Icon name="attach" />
        </button>
        <button type="button" class="quiet" title="Link a file by its path" aria-label="Link a file" onClick={() => setLinking(true)}>
          <Icon name="file" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            void add([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <textarea
          ref={area}
          rows={1}
          value={text}
          aria-label="Prompt"
          placeholder={isRunning ? 'The agent is working. A prompt waits for the end of the turn.' : 'Ask, or type / for commands'}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setPicked(0);
          }}
          onKeyDown={pressed}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length === 0) return;
            event.preventDefault();
            void add(files);
          }}
        />
        {isRunning && (
          <button type="button" class="stop" aria-label="Cancel" title="Cancel the turn" onClick={() => void ask('cancel', { sessionId })}>
            <Icon name="stop" />
          </button>
        )}
        <button
          type="button"
          class="primary send"
          aria-label="Send"
          title={isRunning ? 'Enter: it waits for the end of the turn' : 'Enter'}
          onClick={() => void send()}
        >
          <Icon name="send" />
        </button>
      </div>
      <Problem text={problem} />
    </div>
  );
}
