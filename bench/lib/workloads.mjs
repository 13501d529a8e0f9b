// Every file in workloads/ exports one workload or a list of workloads; nothing else is needed to add one.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dir = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'workloads');
const FIRST = [
  'burst',
  'single',
  'cold-frames',
  'large-diff-1m',
  'large-diff-8m',
  'large-base64-1m',
  'large-base64-8m',
  'cold-large',
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

/** The listed workloads first, then the others by name. */
export async function allWorkloads() {
  const files = readdirSync(dir).filter((file) => file.endsWith('.mjs'));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(path.join(dir, file)).href)));
  const rank = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return modules.flatMap((module) => module.default).toSorted((a, b) => rank(a) - rank(b));
}
