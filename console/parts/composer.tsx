// Where one writes: text, commands of the agent, pictures, sound and files, as far as the agent takes them.
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Accepts, Command } from '../../src/console/conversation.ts';
import type { PromptBlock } from '../../src/console/wire/sessions.ts';
import { ask } from '../socket.ts';
import { Icon } from './icon.tsx';

type Attached = { readonly name: string; readonly size: number; readonly block: PromptBlock };

const MAX_FILE_BYTES = 8 * 1024 * 1024;

export function Composer(props: {
  readonly sessionId: string;
  readonly isRunning: boolean;
  readonly commands: readonly Command[];
  readonly accepts: Accepts;
}): VNode {
  const { sessionId, isRunning, commands, accepts } = props;
  const [text, setText] = useState('');
  const [attached, setAttached] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState('');
  const [isOver, setOver] = useState(false);
  const [picked, setPicked] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);

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
      const made = await attach(file, accepts);
      if (typeof made === 'string') setProblem(made);
      else setAttached((before) => [...before, made]);
    }
  }
  async function send(): Promise<void> {
    const blocks: PromptBlock[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...attached.map(({ block }) => block)];
    if (blocks.length === 0 || isRunning) return;
    setProblem('');
    try {
      const sent = ask('prompt', { sessionId, blocks });
      setText('');
      setAttached([]);
      await sent;
    } catch (error) {
      // What was written is not lost.
      setText((now) => (now === '' ? text : now));
      setAttached((now) => (now.length === 0 ? attached : now));
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
      {matching.length > 0 && (
        <ul class="commands" role="listbox" aria-label="Commands">
          {matching.map((command) => (
            <li role="option" aria-selected={command === chosen} tabIndex={-1} onClick={() => complete(command)}>
              <b>/{command.name}</b> {command.hint !== undefined && <i>{command.hint}</i>} <span class="dim">{command.description}</span>
            </li>
          ))}
        </ul>
      )}
      {attached.length > 0 && (
        <ul class="attached" aria-label="Attachments">
          {attached.map((one) => (
            <li class="chip file">
              <Icon name="file" /> {one.name} <span class="dim">{sizeOf(one.size)}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${one.name}`}
                onClick={() => setAttached((before) => before.filter((other) => other !== one))}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="writing">
        <button type="button" class="quiet" title={attachTitle(accepts)} aria-label="Attach files" onClick={() => picker.current?.click()}>
          <Icon name="attach" />
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
          placeholder={isRunning ? 'The agent is at work…' : 'Ask, or type / for commands'}
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
        {isRunning ? (
          <button type="button" class="stop" aria-label="Cancel" title="Cancel the turn" onClick={() => void ask('cancel', { sessionId })}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="button" class="primary send" aria-label="Send" title="Enter" onClick={() => void send()}>
            <Icon name="send" />
          </button>
        )}
      </div>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function attachTitle({ image, audio, embeddedContext }: Accepts): string {
  const kinds = [image && 'images', audio && 'audio', embeddedContext ? 'files' : 'text files'].filter((kind) => kind !== false);
  return `Attach ${kinds.join(', ')}`;
}

const sizeOf = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : bytes < 1_048_576 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;

/** A block for the prompt, or why there is none. */
async function attach(file: File, accepts: Accepts): Promise<Attached | string> {
  const { name, size, type } = file;
  if (size > MAX_FILE_BYTES) return `${name} is too large: ${sizeOf(size)}, of ${sizeOf(MAX_FILE_BYTES)} at most`;
  const [kind] = type.split('/');
  if (kind === 'image' || kind === 'audio') {
    if (!accepts[kind]) return `${name} was not attached: this agent takes no ${kind === 'image' ? 'images' : 'audio'}`;
    return { name, size, block: { type: kind, mimeType: type, data: await base64(file) } };
  }
  const text = await textOf(file);
  const uri = `file:///${encodeURIComponent(name)}`;
  if (accepts.embeddedContext && text !== undefined)
    return { name, size, block: { type: 'resource', resource: { uri, mimeType: type || 'text/plain', text } } };
  if (accepts.embeddedContext)
    return {
      name,
      size,
      block: { type: 'resource', resource: { uri, mimeType: type || 'application/octet-stream', blob: await base64(file) } },
    };
  if (text === undefined) return `${name} was not attached: this agent takes text only`;
  return { name, size, block: { type: 'text', text: `${name}:\n\n\`\`\`\n${text}\n\`\`\`` } };
}

async function textOf(file: File): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('not readable'));
    reader.readAsDataURL(file);
  });
}
