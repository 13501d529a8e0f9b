// The table in docs/agents.md: one row for each agent, replaced by the rows of this run.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FILE = path.resolve(import.meta.dirname, '../../docs/agents.md');
const COLUMNS = [
  'agent',
  'version',
  'whole flow',
  'two at once',
  'obeys `standard`',
  'asks for',
  'tools seen / called',
  'comes back after a crash',
  'load',
  'replay once',
  'falsely accused',
  'contained',
  'checked',
];
const BEGIN = '<!-- written by npm run agents -->';
const END = '<!-- end -->';

export function writeReport(rows) {
  const text = readFileSync(FILE, 'utf8');
  const [before, rest] = text.split(BEGIN);
  const [table, after] = rest.split(END);
  const kept = new Map(
    table
      .split('\n')
      .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| agent |'))
      .map((line) => [line.split('|')[1].trim(), line]),
  );
  const date = new Date().toISOString().slice(0, 10);
  for (const {
    name,
    version,
    results: { flow, together, obeys, probe, tools, crash, load, accused, contained },
  } of rows) {
    const falselyAccused = (obeys.falselyAccused?.length ?? 0) + (accused.falselyAccused?.length ?? 0);
    const cells = [
      name,
      version,
      flow.cell,
      together.cell,
      obeys.cell,
      probe.cell,
      tools.cell,
      crash.cell,
      load.cell,
      load.replay ?? '',
      falselyAccused,
      contained.cell,
      date,
    ];
    kept.set(name, `| ${cells.join(' | ')} |`);
  }
  const lines = [
    `| ${COLUMNS.join(' | ')} |`,
    `|${' --- |'.repeat(COLUMNS.length)}`,
    ...[...kept.keys()].sort().map((name) => kept.get(name)),
  ];
  writeFileSync(FILE, `${before}${BEGIN}\n${lines.join('\n')}\n${END}${after}`);
  console.log(`\n${lines.join('\n')}`);
}
