// The table of docs/telemetry.md, made from the definitions of the metrics.
import { METRICS } from '../../../src/telemetry/metrics/definitions.ts';

export function metricTable(): string {
  const rows = Object.values(METRICS).map(({ name, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${named} | ${help.replace(/\.$/, '')} |`;
  });
  return ['| metric | labels | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
