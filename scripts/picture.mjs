// node scripts/picture.mjs: draws the tour as it looks on a terminal, for the README (docs/images/demo.svg).
// Draws the actual output of `switchboard demo`, in light or dark colours as the reader prefers; only Linux's `script` provides a terminal here.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = path.join(root, 'docs', 'images', 'demo.svg');

const COLUMNS = 82;
const [CHARACTER, LINE, MARGIN, BAR] = [8.05, 19, 22, 34];
// The terminal's colours by their codes; 0 is plain text.
const LIGHT = { 0: '#24292f', 1: '#010409', 2: '#656d76', 31: '#cf222e', 32: '#1a7f37', 33: '#9a6700', 36: '#1b7c83' };
const DARK = { 0: '#c9d1d9', 1: '#f0f6fc', 2: '#7d8590', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#76e3ea' };

const tour = spawnSync('script', ['-qefc', `stty cols ${COLUMNS}; exec node bin/switchboard.js demo --fast`, '/dev/null'], {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '' },
});
if (tour.status !== 0) throw new Error(`the tour did not come to its end:\n${tour.stdout}${tour.stderr}`);

const lines = ['$ npm start', '', ...tour.stdout.trimEnd().split('\r\n')];
const width = Math.round(COLUMNS * CHARACTER + 2 * MARGIN);
const height = BAR + lines.length * LINE + MARGIN;
/** SVG would merge adjacent spaces. */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('  ', '\u00a0\u00a0');

/** Pieces of one colour, each at its column: a font of another width cannot shift the text after them. */
function drawn(line, at) {
  const pieces = [];
  let [column, code] = [0, 0];
  for (const [, newCode, text = ''] of line.matchAll(/\p{Cc}\[(\d+)m|(\P{Cc}+)/gu)) {
    code = Number(newCode ?? code);
    if (text.trim() !== '') pieces.push(piece(text.trim(), column + text.length - text.trimStart().length, at, code));
    column += text.length;
  }
  return pieces.join('');
}

function piece(text, column, at, code) {
  const style = code === 0 || !(code in LIGHT) ? '' : ` class="c${code}"`;
  const [x, length] = [MARGIN + column * CHARACTER, text.length * CHARACTER].map((value) => value.toFixed(1));
  return `<text x="${x}" y="${BAR + at * LINE + 14}" textLength="${length}"${style}>${escaped(text)}</text>`;
}

const rules = (colours) =>
  Object.entries(colours)
    .map(([code, colour]) => `${code === '0' ? 'text' : `.c${code}`} { fill: ${colour} }`)
    .join(' ');

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="switchboard demo, the guided tour, on a terminal">
<style>
.window { fill: #f6f8fa; stroke: #d0d7de } .c1 { font-weight: 600 } ${rules(LIGHT)}
@media (prefers-color-scheme: dark) { .window { fill: #0d1117; stroke: #30363d } ${rules(DARK)} }
</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
<g><circle cx="22" cy="18" r="6" fill="#ff5f57"/><circle cx="42" cy="18" r="6" fill="#febc2e"/><circle cx="62" cy="18" r="6" fill="#28c840"/></g>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13">
${lines
  .map(drawn)
  .filter((text) => text !== '')
  .join('\n')}
</g>
</svg>
`;
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, svg);
process.stdout.write(`${path.relative(root, file)}: ${lines.length} lines, ${Math.round(svg.length / 1024)} kB\n`);
