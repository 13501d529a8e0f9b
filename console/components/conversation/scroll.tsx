// The part of the conversation that scrolls. It follows new entries until the user scrolls away; a button leads back.
import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../../state.ts';
import { Icon } from '../controls/icon.tsx';
import { Items } from './items.tsx';
import { earlierPart, followingPart, lastPart, laterPart, type Part, partAround } from './part.ts';

/** Closer to the end than this is at the end. */
const NEAR = 40;
/** Closer to the edge of the drawn part than this, more is drawn. */
const MORE_AHEAD = 1200;

/** The first entry in sight and how far it is from the top edge, by session: where the user left off. */
type Left = { readonly id: string; readonly offset: number };
const leftAt = new Map<string, Left>();

type Props = {
  readonly shown: Shown;
  readonly cwd: string;
  /** Set to a function that goes to the end and follows again. */
  readonly follow: RefObject<() => void>;
};

export function Scroll({ shown, cwd, follow }: Props): VNode {
  const { sessionId } = shown.conversation;
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const left = leftAt.get(sessionId);
  const isAtEnd = useRef(left === undefined);
  const [isAway, setAway] = useState(!isAtEnd.current);
  const [wanted, setPart] = useState<Part>(() => (left ? partAround(Number(left.id), shown.conversation) : lastPart(shown.conversation)));
  /** An entry that stays where it is while earlier ones are drawn. */
  const held = useRef<Left>(undefined);
  /** The last entry that the user has seen the end of. */
  const [seen, setSeen] = useState(shown.conversation.nextId);
  void shown.list.value;
  const part = isAtEnd.current || wanted.from > shown.conversation.nextId ? followingPart(wanted, shown.conversation) : wanted;
  if (part !== wanted) setPart(part);

  const toEnd = () => {
    isAtEnd.current = true;
    setAway(false);
    setPart(lastPart(shown.conversation));
    leftAt.delete(sessionId);
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  follow.current = toEnd;
  useLayoutEffect(() => {
    const [element, content] = [box.current, inner.current];
    if (!element || !content) return;
    const left = leftAt.get(sessionId);
    if (!left || !putBack(element, left)) isAtEnd.current = true;
    const stick = () => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    };
    const observer = new ResizeObserver(stick);
    observer.observe(content);
    observer.observe(element);
    stick();
    return () => observer.disconnect();
  }, [shown]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element && held.current) putBack(element, held.current);
    else if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
    held.current = undefined;
  }, [part]);
  function showEarlier(): void {
    const element = box.current;
    held.current = element ? firstInSight(element) : undefined;
    isAtEnd.current = false;
    setPart(earlierPart(part, shown.conversation));
  }

  function scrolled(element: HTMLElement): void {
    const { scrollTop, scrollHeight, clientHeight } = element;
    const below = scrollHeight - scrollTop - clientHeight;
    isAtEnd.current = below < NEAR && part.to === undefined;
    if (!isAtEnd.current && scrollTop < MORE_AHEAD && part.from > (shown.conversation.items[0]?.id ?? 0)) showEarlier();
    else if (below < MORE_AHEAD && part.to !== undefined) setPart(laterPart(part, shown.conversation));
    if (isAtEnd.current) leftAt.delete(sessionId);
    else {
      const left = firstInSight(element);
      if (left) leftAt.set(sessionId, left);
    }
    if (isAtEnd.current === isAway) {
      setAway(!isAtEnd.current);
      setSeen(shown.conversation.nextId);
    }
  }
  const news = Math.max(0, shown.conversation.nextId - seen);
  return (
    <div class="scroll-area">
      <div
        class={isAway ? 'scroll away' : 'scroll'}
        ref={box}
        role="region"
        aria-label="Messages"
        tabIndex={0}
        onScroll={({ currentTarget }) => scrolled(currentTarget)}
      >
        <div class="items" ref={inner} role="log" aria-label="Conversation">
          <Items shown={shown} cwd={cwd} part={part} showEarlier={showEarlier} />
          <Busy shown={shown} />
        </div>
      </div>
      {isAway && (
        <button type="button" class="latest" onClick={toEnd}>
          <Icon name="down" /> {news === 0 ? 'Jump to latest' : `${news} new`}
          {news > 0 && <span class="hidden">: jump to latest</span>}
        </button>
      )}
    </div>
  );
}

/** Scrolls so that the entry is where it was. */
function putBack(element: HTMLElement, { id, offset }: Left): boolean {
  const entry = element.querySelector(`[data-item="${id}"]`);
  if (entry) element.scrollTop += entry.getBoundingClientRect().top - element.getBoundingClientRect().top - offset;
  return entry !== null;
}

function firstInSight(element: HTMLElement): Left | undefined {
  const { top, left, width } = element.getBoundingClientRect();
  const entry = document.elementFromPoint(left + width / 2, top + 12)?.closest<HTMLElement>('[data-item]');
  const id = entry?.dataset.item;
  return entry && id !== undefined ? { id, offset: entry.getBoundingClientRect().top - top } : undefined;
}

function Busy({ shown }: { readonly shown: Shown }): VNode | null {
  void shown.around.value;
  return shown.conversation.isRunning ? <div class="busy" role="status" aria-label="The agent is working" /> : null;
}
