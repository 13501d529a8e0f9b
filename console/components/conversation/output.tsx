// Program output with its colours. Other terminal sequences were removed by the server.
import type { ComponentChildren, VNode } from 'preact';
import type { Output } from '../../../src/console/protocol/conversation.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOUR = /\u001b\[([\d;]*)m/;

/** `kill` stops the program, if it can be stopped from here. */
export function Printed({ output, kill }: { readonly output: Output | undefined; readonly kill?: (() => void) | undefined }): VNode {
  return (
    <figure class="terminal">
      {kill && output !== undefined && output.exit === undefined && (
        <button type="button" class="danger" title="Kills the command and all its child processes" onClick={kill}>
          Kill
        </button>
      )}
      <pre>{output === undefined || output.text === '' ? <span class="dim">no output yet</span> : coloured(output.text)}</pre>
      {output?.exit !== undefined && <figcaption class={output.exit === 'exit 0' ? 'ok' : 'bad'}>{output.exit}</figcaption>}
    </figure>
  );
}

function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let style: string[] = [];
  // The split keeps its group: text, codes, text, codes, …
  for (const [index, part] of text.split(COLOUR).entries()) {
    if (index % 2 === 1) style = restyled(style, part);
    else if (part !== '') parts.push(style.length === 0 ? part : <span class={style.join(' ')}>{part}</span>);
  }
  return parts;
}

function restyled(before: readonly string[], codes: string): string[] {
  let style = [...before];
  const numbers = codes === '' ? [0] : codes.split(';').map(Number);
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] as number;
    if (code === 0) style = [];
    else if (code === 1) style.push('sgr-bold');
    else if (code === 2) style.push('sgr-dim');
    else if (code === 3) style.push('sgr-italic');
    else if (code === 4) style.push('sgr-underline');
    else if (code === 22) style = style.filter((one) => one !== 'sgr-bold' && one !== 'sgr-dim');
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      style = [...style.filter((one) => !/^sgr-\d$/.test(one)), `sgr-${code % 10}`];
    else if (code === 39) style = style.filter((one) => !/^sgr-\d$/.test(one));
  }
  return style;
}
