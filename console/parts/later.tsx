// What is not needed for the first screen is loaded when it is first looked at.
import type { FunctionComponent, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let found: FunctionComponent<Props> | undefined;
  return function Later(props: Props): VNode {
    const [, again] = useState(0);
    useEffect(() => {
      if (!found)
        void load().then((it) => {
          found = it;
          again((count) => count + 1);
        });
    }, []);
    const Found = found;
    return Found ? <Found {...props} /> : <p class="quiet-text">…</p>;
  };
}
