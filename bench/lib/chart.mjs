// Draws one chart: CPU per small frame, on a logarithmic scale, readable on light and on dark backgrounds.

const BARS = [
  ['relay', 'C relay'],
  ['raw', 'Node byte pipe'],
  ['ours', 'switchboard'],
  ['naive', 'parse + stringify'],
  ['jsonrpc', 'vscode-jsonrpc'],
  ['sdk', 'ACP SDK'],
];
const LEFT = 150;
const RIGHT = 600;
const TOP = 52;
const STEP = 34;
const [LEAST, MOST] = [0.05, 100];
const TICKS = [0.1, 1, 10, 100];

/** `burst` is that workload's result; undefined when there is nothing to draw. */
export function chart(burst, subtitle) {
  const bars = BARS.flatMap(([name, label]) => {
    const us = burst?.[name]?.cpuUs?.best;
    return us === undefined ? [] : [{ name, label, us }];
  });
  if (bars.length === 0) return undefined;
  const raw = burst.raw?.cpuUs?.best;
  const x = (us) => LEFT + ((RIGHT - LEFT) * Math.log(Math.max(us, LEAST) / LEAST)) / Math.log(MOST / LEAST);
  const bottom = TOP + bars.length * STEP;
  const ticks = TICKS.map(
    (us) =>
      `<line class="grid" x1="${at(x(us))}" y1="${TOP - 6}" x2="${at(x(us))}" y2="${bottom}"/><text class="small" text-anchor="middle" x="${at(x(us))}" y="${bottom + 16}">${us} µs</text>`,
  );
  const drawn = bars.map(({ name, label, us }, index) => {
    const y = TOP + index * STEP;
    const ratio = raw === undefined || name === 'raw' ? '' : ` (${significant(us / raw)}x raw)`;
    return [
      `<text text-anchor="end" x="${LEFT - 10}" y="${y + 17}"${name === 'ours' ? ' class="ours-label"' : ''}>${label}</text>`,
      `<rect class="${name === 'ours' ? 'ours' : 'bar'}" x="${LEFT}" y="${y + 3}" width="${at(x(us) - LEFT)}" height="20" rx="2"/>`,
      `<text class="small" x="${at(x(us) + 8)}" y="${y + 17}">${significant(us)} µs${ratio}</text>`,
    ].join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${bottom + 30}" width="720" height="${bottom + 30}" role="img" aria-label="CPU time of the proxy per 200 byte frame: ${bars.map(({ label, us }) => `${label} ${significant(us)} µs`).join(', ')}">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f } .small { font-size: 12px; fill: #57606a } .title { font-weight: 600 } .ours-label { font-weight: 600 }
.bar { fill: #8c959f } .ours { fill: #0969da } .grid { stroke: #d0d7de }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } .bar { fill: #656c76 } .ours { fill: #4493f8 } .grid { stroke: #3d444d } }
</style>
<text class="title" x="${LEFT}" y="18">CPU time of the proxy per 200 B frame, logarithmic scale</text>
<text class="small" x="${LEFT}" y="36">${subtitle}</text>
${ticks.join('\n')}
${drawn.join('\n')}
</svg>
`;
}

const at = (n) => n.toFixed(1);
const significant = (n) => (n >= 10 ? n.toFixed(0) : n >= 1 ? n.toFixed(1) : n.toFixed(2));
