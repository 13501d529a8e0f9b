// The prompt field: text, slash commands, and the attachments that the agent accepts.
import type { RefObject, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Command } from '../../../src/console/protocol/conversation.ts';
import type { PromptBlock } from '../../../src/console/protocol/sessions.ts';
import { ask } from '../../socket.ts';
import { agents, type Shown, sessions } from '../../state.ts';
import { AskText } from '../controls/ask-text.tsx';
import { Icon } from '../controls/icon.tsx';
import { ListBox } from '../controls/list-box.tsx';
import { Problem } from '../controls/problem.tsx';
import { savedRule } from '../requests/rule.tsx';
import { type Attached, attach, attachTitle, linkTo, refusalOf } from './attach.ts';
import { Attachments, Refusals } from './attachments.tsx';
import { draftOf, rememberSent, setDraft } from './drafts.ts';
import { useRecall } from './recall.ts';
import { duringTurn, Other } from './steering.tsx';

/** What the screen around the composer can do with it. */
export type ComposerHandle = { add(files: Iterable<File>): void; focus(): void };

type Props = {
  readonly shown: Shown;
  readonly isRunning: boolean;
  readonly handle: RefObject<ComposerHandle | undefined>;
  /** Called when a prompt was sent. */
  readonly onSent: () => void;
  /** Leaves the field for the pending request; undefined without one. */
  readonly toRequest: (() => void) | undefined;
};

export function Composer({ shown, isRunning, handle, onSent, toRequest }: Props): VNode {
  const { sessionId, commands, accepts } = shown.conversation;
  const { text, attached } = draftOf(sessionId).value;
  const [problem, setProblem] = useState('');
  const [refused, setRefused] = useState<readonly string[]>([]);
  const [picked, setPicked] = useState(0);
  const [isLinking, setLinking] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const recall = useRecall(shown);
  const setText = (now: string) => setDraft(sessionId, { text: now });
  const setAttached = (now: readonly Attached[]) => setDraft(sessionId, { attached: now });

  const { cwd = '', agent } = sessions.value.get(sessionId) ?? {};
  const during = duringTurn(agents.value.find(({ name }) => name === agent));
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
    setRefused([]);
    for (const file of files) {
      // Files are read asynchronously, and more may be added meanwhile.
      const made = await attach(file, accepts, draftOf(sessionId).value.attached);
      if (typeof made === 'string') setRefused((before) => [...before, made]);
      else setAttached([...draftOf(sessionId).value.attached, made]);
    }
  }
  handle.current = { add: (files) => void add(files), focus: () => area.current?.focus() };
  async function send(whileRunning?: 'queue' | 'steer'): Promise<void> {
    const blocks: PromptBlock[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...attached.map(({ block }) => block)];
    if (blocks.length === 0) return;
    const reasons = attached.map((one) => refusalOf(one, accepts)).filter((why) => why !== undefined);
    setRefused(reasons);
    if (reasons.length > 0) return setProblem('Not sent. Remove what the agent does not accept.');
    setProblem('');
    recall.reset();
    try {
      const sent = ask('prompt', { sessionId, blocks, ...(whileRunning && { whileRunning }) });
      rememberSent(sessionId, blocks);
      setDraft(sessionId, { text: '', attached: [] });
      if (savedRule.value?.sessionId === sessionId) savedRule.value = undefined;
      onSent();
      await sent;
    } catch (error) {
      // Keep the prompt.
      const now = draftOf(sessionId).value;
      setDraft(sessionId, { ...(now.text === '' && { text }), ...(now.attached.length === 0 && { attached }) });
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
      void send(isRunning && (event.ctrlKey || event.metaKey) ? during.other?.how : undefined);
    } else if (event.key === 'Escape') {
      if (toRequest) toRequest();
      else area.current?.blur();
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      const found = recall.step(event.key === 'ArrowUp' ? -1 : 1, text, area.current?.selectionEnd ?? 0);
      if (found === undefined) return;
      event.preventDefault();
      setText(found);
    }
  }

  return (
    <div class="composer">
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
      <Refusals refused={refused} close={() => setRefused([])} />
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
          placeholder={isRunning ? during.placeholder : 'Ask, or type / for commands'}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setPicked(0);
            recall.reset();
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
          title={isRunning ? `Enter: ${during.enter}` : 'Enter'}
          onClick={() => void send()}
        >
          <Icon name="send" />
        </button>
      </div>
      {isRunning && during.other && <Other {...during.other} send={() => void send(during.other?.how)} />}
      <Problem text={problem} />
    </div>
  );
}
