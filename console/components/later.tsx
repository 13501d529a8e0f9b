// What is not needed for the first screen is loaded when it is first looked at: the code and the stylesheets it is drawn with, all of it before
// anything is shown.
import type { FunctionComponent, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export type Later<Props extends object> = FunctionComponent<Props> & {
  /** Loads it without showing it. */
  fetch(): Promise<void>;
};

/** `styles` are names of stylesheets in `console/style/`. */
export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>, ...styles: readonly string[]): Later<Props> {
  let found: FunctionComponent<Props> | undefined;
  let coming: Promise<void> | undefined;
  const fetch = (): Promise<void> => {
    coming ??= Promise.all([load(), ...styles.map(stylesheet)]).then(
      ([it]) => {
        found = it;
      },
      (error: unknown) => {
        coming = undefined; // the next look tries again
        throw error;
      },
    );
    return coming;
  };
  function Shown(props: Props): VNode {
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      // It may have come since this was drawn: then it is drawn again all the same.
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
