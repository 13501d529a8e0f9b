// Views of the same thing. Arrow keys move between them.
import type { ComponentChildren, VNode } from 'preact';

export type Tab = { readonly name: string; readonly label: ComponentChildren };

export function Tabs({
  tabs,
  current,
  choose,
  label,
  children,
}: {
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly choose: (name: string) => void;
  readonly label: string;
  readonly children: ComponentChildren;
}): VNode {
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex(({ name }) => name === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    choose(next.name);
    document.getElementById(`tab-${next.name}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={pressed}>
        {tabs.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === current}
            aria-controls="tab-panel"
            tabIndex={name === current ? 0 : -1}
            onClick={() => choose(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`}>
        {children}
      </div>
    </>
  );
}
