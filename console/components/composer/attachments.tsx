// Attachments of the next prompt, in sending order: preview, move, remove.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Accepts } from '../../../src/console/protocol/conversation.ts';
import type { PromptBlock } from '../../../src/console/protocol/sessions.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Icon } from '../controls/icon.tsx';
import { BlockView } from '../conversation/content.tsx';
import { type Attached, refusalOf, sizeOf } from './attach.ts';

type Props = { readonly attached: readonly Attached[]; readonly accepts: Accepts; readonly set: (attached: readonly Attached[]) => void };

export function Attachments({ attached, accepts, set }: Props): VNode | null {
  const [seen, setSeen] = useState<Attached>();
  if (attached.length === 0) return null;
  const move = (from: number, to: number) => {
    const one = attached[from] as Attached;
    set(attached.toSpliced(from, 1).toSpliced(to, 0, one));
  };
  return (
    <ul class="attached" aria-label="Attachments">
      {attached.map((one, at) => {
        const refusal = refusalOf(one, accepts);
        return (
          <li class={refusal === undefined ? 'chip file' : 'chip file refused'} title={refusal}>
            {one.block.type === 'image' ? (
              <img class="thumb" src={`data:${one.block.mimeType};base64,${one.block.data}`} alt="" />
            ) : (
              <Icon name={refusal === undefined ? 'file' : 'warning'} />
            )}
            <button type="button" class="link" aria-label={`Show ${one.name}`} onClick={() => setSeen(one)}>
              {one.name}
            </button>
            <span class="dim">{one.block.type === 'resource_link' ? 'link' : sizeOf(one.size)}</span>
            {at > 0 && (
              <button type="button" class="quiet" aria-label={`Move ${one.name} before`} onClick={() => move(at, at - 1)}>
                ‹
              </button>
            )}
            {at < attached.length - 1 && (
              <button type="button" class="quiet" aria-label={`Move ${one.name} behind`} onClick={() => move(at, at + 1)}>
                ›
              </button>
            )}
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${one.name}`}
              onClick={() => set(attached.filter((other) => other !== one))}
            >
              <Icon name="cross" />
            </button>
          </li>
        );
      })}
      {seen && (
        <Dialog title={seen.name} onClose={() => setSeen(undefined)}>
          <Seen block={seen.block} />
          <div class="buttons">
            <button type="button" onClick={() => setSeen(undefined)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </ul>
  );
}

/** Files that were not attached, each with the reason. */
export function Refusals({ refused, close }: { readonly refused: readonly string[]; readonly close: () => void }): VNode | null {
  if (refused.length === 0) return null;
  return (
    <div class="problem refusals" role="alert">
      <ul aria-label="Not attached">
        {refused.map((why) => (
          <li>{why}</li>
        ))}
      </ul>
      <button type="button" class="quiet" aria-label="Dismiss" onClick={close}>
        <Icon name="cross" />
      </button>
    </div>
  );
}

const MAX_SHOWN = 20_000;

function Seen({ block }: { readonly block: PromptBlock }): VNode {
  if (block.type === 'resource_link') return <pre class="seen">{block.uri}</pre>;
  if (block.type !== 'text' && block.type !== 'resource') return <BlockView block={block} />;
  const text = block.type === 'text' ? block.text : 'text' in block.resource ? block.resource.text : undefined;
  if (text === undefined) return <p>This is not text; it is sent unchanged.</p>;
  return <pre class="seen">{text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}</pre>;
}
