// The machine and the versions of a measurement.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

export function machine(load) {
  const [{ model } = { model: 'unknown' }] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GB`;
  return [
    ['machine', `${os.cpus().length} x ${model.trim()}, ${memory}, ${os.type()} ${os.release()}`],
    ['Node', process.version],
    [
      'load program',
      load.language === 'C' ? `C, ${firstLine('cc', ['--version'])}` : 'Node (no C compiler): ratios come out smaller than they are',
    ],
    ['switchboard', `${JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version}, ${commit()}`],
    ['@agentclientprotocol/sdk', versionOf('@agentclientprotocol/sdk')],
    ['vscode-jsonrpc', versionOf('vscode-jsonrpc')],
  ];
}

function commit() {
  const hash = firstLine('git', ['-C', root, 'rev-parse', '--short', 'HEAD']);
  const changed = firstLine('git', ['-C', root, 'status', '--porcelain', '--', 'src']);
  return `commit ${hash}${changed === '' ? '' : ' with changes in src'}`;
}

function versionOf(name) {
  for (const dir of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(path.join(dir, name, 'package.json'), 'utf8')).version;
    } catch {} // not in this one
  }
  return 'not installed';
}

function firstLine(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0];
  } catch {
    return '';
  }
}
