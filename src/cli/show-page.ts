// `switchboard help PAGE`: a page of docs/ as text for the terminal.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFile } from '../app/package-files.ts';

const folder = () => packageFile('docs');

/** The names of the pages; none where the package has no documents. */
export function pageNames(): string[] {
  try {
    return readdirSync(folder()).flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -3)] : []));
  } catch {
    return [];
  }
}

/** The page as text, wrapped at `width`. */
export function pageText(name: string, width: number): string {
  const source = readFileSync(path.join(folder(), `${name}.md`), 'utf8');
  let isCode = false;
  const lines = source.split('\n').flatMap((line) => {
    if (line.startsWith('```')) {
      isCode = !isCode;
      return [];
    }
    if (isCode) return [`    ${line}`];
    if (/^(?:!\[|<!--|<picture>|\|[ |:-]+\|$)/.test(line)) return [];
    if (line.startsWith('#')) return [plain(line.replace(/^#+ /, '')).toUpperCase()];
    if (line.startsWith('|')) return tableRow(line, width);
    const indent = /^(?:\s*(?:[-*]|\d+\.) )/.exec(line)?.[0].length ?? 0;
    return wrap(plain(line), width, indent);
  });
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** Cells below each other: those of a wide table would not fit side by side. */
function tableRow(line: string, width: number): string[] {
  const [first = '', ...rest] = line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => plain(cell.trim().replaceAll('\\|', '|')));
  const others = rest.filter((cell) => cell !== '');
  if (first === '' && others.length === 0) return [];
  return [first, ...wrap(others.join(' | '), width - 4, 0).map((part) => `    ${part}`)];
}

const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, (_, label: string, target: string) => (target.startsWith('http') ? `${label} (${target})` : label))
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replaceAll('`', '');

function wrap(text: string, width: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = ' '.repeat(indent) + word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
