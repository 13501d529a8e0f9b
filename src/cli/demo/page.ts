// What the tour prints: plain lines, with colour only where it can be seen and is wanted.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export type Page = {
  heading(text: string): void;
  /** A line of the current step, marked with whom or what it is about. */
  line(mark: string, text: string): void;
  /** A line of a diff. */
  diff(sign: '+' | '-' | ' ', text: string): void;
  plain(text: string): void;
};

const MARK_WIDTH = 10;
const MARK_STYLES: Readonly<Record<string, Style>> = { sketcher: 'cyan', builder: 'yellow' };
const SIGN_STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red' };

export function createPage(write: (text: string) => void, hasColour: boolean): Page {
  const paint = (style: Style, text: string) => (hasColour ? styleText(style, text, { validateStream: false }) : text);
  let step = 0;
  return {
    heading(text) {
      step += 1;
      write(`\n${paint('bold', `${step}. ${text}`)}\n`);
    },
    line: (mark, text) => write(`   ${paint(MARK_STYLES[mark] ?? 'dim', mark.padEnd(MARK_WIDTH))}${text}\n`),
    diff: (sign, text) => write(`   ${' '.repeat(MARK_WIDTH)}${paint(SIGN_STYLES[sign] ?? 'dim', `${sign} ${text}`)}\n`),
    plain: (text) => write(`${text}\n`),
  };
}

/** https://no-color.org: any value but the empty one counts. */
export function wantsColour(isTty: boolean, env: NodeJS.ProcessEnv): boolean {
  return isTty && !env.NO_COLOR && env.TERM !== 'dumb';
}
