// Loads a screen's code and stylesheets on first use, all before it is shown.
import type { FunctionComponent, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export type Later<Props extends object> = FunctionComponent<Props> & {
  /** Preloads it. */
  fetch(): Promise<void>;
};

/** `styles` names stylesheets in `console/style/`. */
export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>, ...styles: readonly string[]): Later<Props> {
  let found: FunctionComponent<Props> | undefined;
  let coming: Promise<void> | undefined;
  const fetch = (): Promise<void> => {
    coming ??= Promise.all([load(), ...styles.map(stylesheet)]).then(
      ([it]) => {
        found = it;
      },
      (error: unknown) => {
        coming = undefined; // the next render tries again
        throw error;
      },
    );
    return coming;
  };
  function Shown(props: Props): VNode {
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      // It may have loaded since this was rendered.
      if (problem === undefined)
        fetch().then(
          () => setProblem(''),
          () => setProblem('This part of the page could not be loaded. Is the console still running? Reload the page to try again.'),
        );
    }, []);
    const Found = found;
    if (Found) return <Found {...props} />;
    return problem ? (
      <p class="problem" role="alert">
        {problem}
      </p>
    ) : (
      <p class="quiet-text">…</p>
    );
  }
  return Object.assign(Shown, { fetch });
}

const sheets = new Map<string, Promise<void>>();

function stylesheet(name: string): Promise<void> {
  const known = sheets.get(name);
  if (known) return known;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `/${name}.css`;
  const loaded = new Promise<void>((resolve, reject) => {
    link.onload = () => resolve();
    link.onerror = () => {
      sheets.delete(name);
      link.remove();
      reject(new Error(`${name}.css could not be loaded`));
    };
  });
  sheets.set(name, loaded);
  document.head.append(link);
  return loaded;
}
