// Rewrites the snapshots of `--help` that test/policy/commands/programs-help.test.ts compares with the program table. A snapshot holds
// sections: `$ command --help`, then the options that the output names, without their descriptions. Programs that are not installed keep
// their section. To add a program, write its `$` line into a snapshot and run this script.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../test/policy/fixtures/help');

/** The left column of the lines that describe an option. */
function optionColumns(output) {
  // Underlined text is `_`, backspace, letter.
  const plain = output.split('\b').map((part, index, parts) => (index < parts.length - 1 ? part.slice(0, -1) : part));
  return plain
    .join('')
    .split('\n')
    .map((line) => /^(?: {1,8}|\t)(-\S.*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined && !/^---/.test(line))
    .map((line) => {
      const columns = line.split(/\s{2,}|\t+/).filter((column) => !/^\.+$/.test(column));
      const end = columns.findIndex((column) => !column.startsWith('-'));
      return columns
        .slice(0, end === -1 ? columns.length : end)
        .join('  ')
        .trim();
    });
}

function harvest(command) {
  const [program, ...words] = command.split(' ');
  const { stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    input: '',
    env: { PATH: process.env.PATH, LC_ALL: 'C', COLUMNS: '200', TERM: 'dumb' },
    maxBuffer: 1 << 24,
  });
  return error ? undefined : optionColumns(`${stdout}\n${stderr}`);
}

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))) {
  const [, ...sections] = `\n${readFileSync(path.join(FOLDER, file), 'utf8')}`.split(/\n\$ /);
  const texts = sections.map((section) => {
    const [command, ...kept] = section.trimEnd().split('\n');
    const lines = harvest(command) ?? kept;
    return [`$ ${command}`, ...lines].join('\n');
  });
  writeFileSync(path.join(FOLDER, file), `${texts.join('\n')}\n`);
}
