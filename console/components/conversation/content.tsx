// Renders ACP content: text, images, audio, resources, diffs, terminals.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { About, Block, ToolContent } from '../../../src/console/protocol/conversation.ts';
import { ask } from '../../socket.ts';
import type { Shown } from '../../state.ts';
import type { Place } from '../changes/apply.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Icon } from '../controls/icon.tsx';
import { later } from '../controls/later.tsx';
import { Link } from '../controls/link.tsx';
import { CodeBlock, Markdown } from './markdown.tsx';
import { Printed } from './output.tsx';

const Diff = later(() => import('../changes/diff.tsx').then((loaded) => loaded.Diff));
const Preview = later(() => import('./preview.tsx').then((loaded) => loaded.Preview));

/** `sessionId` enables previews of files in the session's directories. */
export function BlockView({ block, sessionId }: { readonly block: Block; readonly sessionId?: string | undefined }): VNode {
  if (!block.about) return <PlainBlock block={block} sessionId={sessionId} />;
  return (
    <div class="annotated">
      <PlainBlock block={block} sessionId={sessionId} />
      <AboutView about={block.about} />
    </div>
  );
}

const shortDate = (text: string): string => {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleDateString();
};

/** The agent's annotations, in a few words. */
export function AboutView({ about }: { readonly about: About | undefined }): VNode | null {
  if (!about) return null;
  const { audience, priority, lastModified } = about;
  const words = [
    audience && `for ${audience.join(' and ')}`,
    priority !== undefined && `priority ${priority}`,
    lastModified !== undefined && `changed ${shortDate(lastModified)}`,
  ].filter(Boolean);
  return (
    <small class="annotation" title="The agent’s annotations">
      {words.join(' · ')}
    </small>
  );
}

function Picture({ source }: { readonly source: string }): VNode {
  const [isLarge, setLarge] = useState(false);
  return (
    <>
      <button type="button" class="picture" aria-label="Show the picture large" onClick={() => setLarge(true)}>
        <img class="media" src={source} alt="from the conversation" />
      </button>
      {isLarge && (
        <Dialog title="Picture" look="large" onClose={() => setLarge(false)}>
          <div class="large-picture">
            <img src={source} alt="from the conversation, large" />
          </div>
          <div class="buttons">
            <button type="button" onClick={() => setLarge(false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function PlainBlock({ block, sessionId }: { readonly block: Block; readonly sessionId?: string | undefined }): VNode {
  switch (block.type) {
    case 'text':
      return <Markdown text={block.text} />;
    case 'image':
      return /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(block.mimeType) && block.data !== '' ? (
        <Picture source={`data:${block.mimeType};base64,${block.data}`} />
      ) : (
        <span class="chip">image of type {block.mimeType || 'unknown'}</span>
      );
    case 'audio':
      return /^audio\/[\w.+-]+$/.test(block.mimeType) && block.data !== '' ? (
        // biome-ignore lint/a11y/useMediaCaption: agents send audio without captions
        <audio class="media" controls src={`data:${block.mimeType};base64,${block.data}`} />
      ) : (
        <span class="chip">audio of type {block.mimeType || 'unknown'}</span>
      );
    case 'resource_link':
      return <ResourceLink {...block} sessionId={sessionId} />;
    case 'resource':
      return (
        <details class="resource">
          <summary>
            <Icon name="file" /> {block.uri}
          </summary>
          <pre>{block.text ?? `of type ${block.mimeType ?? 'unknown'}, not text`}</pre>
        </details>
      );
    case 'other':
      return <Raw name="Unknown content" text={block.text} />;
  }
}

type LinkProps = Omit<Extract<Block, { type: 'resource_link' }>, 'type'> & { readonly sessionId: string | undefined };

function ResourceLink({ uri, name, description, sessionId }: LinkProps): VNode {
  if (sessionId !== undefined && /^(?:file:\/\/\/?|\/)/.test(uri)) return <Preview sessionId={sessionId} uri={uri} name={name ?? uri} />;
  return (
    <span class="chip file" title={description}>
      <Icon name="file" /> {/^https?:/.test(uri) ? <Link to={uri}>{name ?? uri}</Link> : name === undefined ? uri : `${name} (${uri})`}
    </span>
  );
}

type ContentProps = {
  readonly content: ToolContent;
  readonly cwd: string;
  readonly shown?: Shown;
  /** The position, in a session that accepts actions from here. */
  readonly place?: Place | undefined;
  /** Text without a code fence is output in this language, not Markdown. */
  readonly language?: string | undefined;
};

export function Content({ content, shown, cwd, place, language }: ContentProps): VNode {
  if (content.type === 'diff') {
    const { path, oldText, newText, print } = content;
    const at = place && print !== undefined ? { ...place, print } : undefined;
    return <Diff path={path} oldText={oldText} newText={newText} cwd={cwd} place={at} />;
  }
  if (content.type === 'terminal') {
    const { terminalId } = content;
    const kill = place && (() => void ask('kill', { sessionId: place.sessionId, terminalId }).catch(() => {}));
    return <Printed output={shown?.conversation.outputs[terminalId]} kill={kill} />;
  }
  const block = content.content;
  if (language !== undefined && block.type === 'text' && !/^\s*(?:```|~~~)/m.test(block.text))
    return <CodeBlock text={block.text.replace(/\n+$/, '')} language={language} />;
  return <BlockView block={block} sessionId={place?.sessionId} />;
}

export function Raw({ name, text, isOpen = false }: { readonly name: string; readonly text: string; readonly isOpen?: boolean }): VNode {
  return (
    <details class="raw" open={isOpen}>
      <summary>{name}</summary>
      <pre>{text}</pre>
    </details>
  );
}
