// Figures as tables: the same Markdown on the terminal and in RESULTS.md.

/** Rows of cells as a Markdown table whose columns line up. */
export function table(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => [...row[column]].length), 3));
  const line = (cells) => `| ${cells.map((cell, i) => (i === 0 ? pad(cell, widths[i]) : pad(cell, widths[i], true))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
function pad(text, width, toTheLeft = false) {
  const space = ' '.repeat(width - [...text].length);
  return toTheLeft ? `${space}${text}` : `${text}${space}`;
}

/** One workload: a row for each variant, the first metric also as a ratio to the raw pipe's. */
export function workloadTable(workload, result, variants) {
  const metrics = Object.entries(workload.metrics);
  const [main] = Object.keys(workload.metrics);
  const raw = result.raw?.[main]?.best;
  const hasRatio = raw !== undefined && workload.metrics[main].ratio !== false;
  const head = ['variant', ...metrics.flatMap(([, { title }], i) => (i === 0 && hasRatio ? [title, 'x raw'] : [title]))];
  const rows = Object.entries(result).map(([name, figures]) => {
    const cells = metrics.flatMap(([metric, { digits }], i) => {
      const figure = figures[metric];
      const cell = figure === undefined ? '–' : `${figure.best.toFixed(digits)} (${figure.median.toFixed(digits)})`;
      if (i > 0 || !hasRatio) return [cell];
      return [cell, figure === undefined ? '–' : (figure.best / raw).toFixed(2)];
    });
    return [
      `${name}: ${variants[name]?.title ?? ''}`.replace(/: $/, ''),
      ...(figures.failure === undefined ? cells : cells.map(() => 'failed')),
    ];
  });
  const failures = Object.entries(result).flatMap(([name, { failure }]) =>
    failure === undefined ? [] : [`\`${name}\` did not get through: ${failure.split('\n')[0]}`],
  );
  return [`### ${workload.title}`, '', table(head, rows), ...failures.map((text) => `\n${text}`)].join('\n');
}

export function goalsTable(evaluated) {
  const rows = evaluated.flatMap(({ id, title, status, failed, checks }) => [
    ...(failed ? [[`${id} ${title}`, '', '', 'failed', '**missed**']] : []),
    ...checks.map((check) => [
      `${id} ${title}`,
      check.what,
      `${check.sign} ${check.limit}`,
      Number.isNaN(check.got) ? '–' : check.got.toFixed(2),
      status === 'not yet' ? 'not yet' : check.status === 'missed' ? '**missed**' : check.status,
    ]),
  ]);
  return table(['goal', 'figure', 'limit', 'measured', 'result'], rows);
}

export function goalsLine(evaluated) {
  const ids = (status) =>
    evaluated
      .filter((goal) => goal.status === status)
      .map(({ id }) => id)
      .join(' ');
  return ['met', 'met in part', 'missed', 'not yet', 'not measured']
    .filter((status) => ids(status) !== '')
    .map((status) => `${status}: ${ids(status)}`)
    .join(' · ');
}
