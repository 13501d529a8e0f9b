// The programs that the interop checks need: the conformance suite and the Inspector, and a Node that runs them. They are installed into a cache of
// their own, because they want a newer Node than this project.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache/interop');
const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;
const NODE = `node-${PLATFORM}-${process.arch}`;
const PACKAGES = { '@modelcontextprotocol/conformance': '0.2.0-alpha.12', '@modelcontextprotocol/inspector': '2.12.0', [NODE]: '22.23.3' };

/** Installs what is missing; returns the paths. */
export function interopTools() {
  const inside = (...names) => path.join(CACHE, 'node_modules', ...names);
  const node = inside(NODE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const conformance = inside('@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  if (!existsSync(node) || !existsSync(conformance)) {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(path.join(CACHE, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    execFileSync(npm, ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: CACHE, stdio: 'inherit' });
  }
  return { node, conformance, inspector: inside('.bin', 'mcp-inspector'), inspectorHome: inside('@modelcontextprotocol', 'inspector') };
}
