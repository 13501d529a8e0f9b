// The programs that the interop checks need, in a cache of their own: some want a newer Node than this project, some are large.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache/interop');
const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;
const NODE = `node-${PLATFORM}-${process.arch}`;
const NEWER_NODE = { [NODE]: '22.23.3' };
const MCP = { '@modelcontextprotocol/conformance': '0.2.0-alpha.12', '@modelcontextprotocol/inspector': '2.12.0', ...NEWER_NODE };
const GOOSE = `@aaif/goose-binary-${process.platform}-${process.arch}`;
export const AGENT_VERSIONS = { goose: '1.52.0', qwen: '0.24.4' };
/** 600 MB. */
const AGENTS = { [GOOSE]: AGENT_VERSIONS.goose, '@qwen-code/qwen-code': AGENT_VERSIONS.qwen, ...NEWER_NODE };
export const COLLECTOR_VERSION = '1.43.0';
const COLLECTOR = { '@genkit-ai/telemetry-server': COLLECTOR_VERSION };

/** Installs what is missing; returns the paths. */
export function mcpTools() {
  const inside = installed('mcp', MCP);
  return {
    node: nodeIn(inside),
    conformance: inside('@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
    inspector: inside('.bin', 'mcp-inspector'),
    inspectorHome: inside('@modelcontextprotocol', 'inspector'),
  };
}

/** Agents that serve ACP over the network: their commands. */
export function agentTools() {
  const inside = installed('agents', AGENTS);
  const node = nodeIn(inside);
  return {
    nodeFolder: path.dirname(node),
    goose: [inside(GOOSE, 'bin', 'goose'), 'serve'],
    qwen: [node, inside('@qwen-code', 'qwen-code', 'cli-entry.js'), 'serve'],
  };
}

/** The folder of a server that takes traces over OTLP, and shows what it has understood. */
export const collectorTool = () => installed('collector', COLLECTOR)('@genkit-ai', 'telemetry-server');

const nodeIn = (inside) => inside(NODE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

function installed(folder, dependencies) {
  const place = path.join(CACHE, folder);
  const inside = (...names) => path.join(place, 'node_modules', ...names);
  const versionOf = (name) => {
    const manifest = inside(...name.split('/'), 'package.json');
    return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
  };
  if (Object.entries(dependencies).every(([name, version]) => versionOf(name) === version)) return inside;
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(npm, ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: place, stdio: 'inherit' });
  return inside;
}
