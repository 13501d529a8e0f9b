#!/usr/bin/env node
// CommonJS, as package.json beside it says: Node starts it some milliseconds sooner, and an editor waits for them.
// The shim is started by agents, once for each session, and must not wait for the rest.
if (process.argv[2] === 'mcp-shim') void import('../dist/mcp-shim.js');
else void start(require('node:path').join(__dirname, '..', 'dist', 'cli.cjs')).main(process.argv);

/** Places in the sources are known to Node's own loader alone. */
function start(file) {
  try {
    return process.sourceMapsEnabled ? require(file) : require('./load.js')(file).exports;
  } catch (error) {
    if (error.code !== 'NOT_BUILT') throw error;
    process.stderr.write(`switchboard: ${error.message}\n`);
    process.exit(1);
  }
}
