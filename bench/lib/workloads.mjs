// Every file in workloads/ is a workload, or a list of them; a new one needs nothing else.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dir = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'workloads');
const FIRST = [
  'burst',
  'single',
  'large-diff-1m',
  'large-diff-8m',
  'large-base64-1m',
  'large-base64-8m',
  'roundtrip',
  'start',
  'sessions-4',
  'sessions-100',
  'sessions-1000',
  'memory',
  'mcp-call',
  'policy',
  'redact',
  'duplex',
];

/** In the order in which they are best read: the listed ones, then the rest by name. */
export async function allWorkloads() {
  const files = readdirSync(dir).filter((file) => file.endsWith('.mjs'));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(path.join(dir, file)).href)));
  const rank = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return modules.flatMap((module) => module.default).toSorted((a, b) => rank(a) - rank(b));
}
