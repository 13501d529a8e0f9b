#!/usr/bin/env node
// CommonJS, as the package.json in this folder says: Node starts it some milliseconds sooner, and an editor waits for that.
// Written for any Node: one that is too old must be able to say so.
if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `switchboard: this is Node ${process.versions.node}; switchboard needs Node 20.19 or newer (of Node 22, 22.3 or newer)\n` +
      `  install a newer Node, and start switchboard with it; this one is ${process.execPath}\n`,
  );
  process.exit(1);
}
// The shim is started by agents, once for each session, and must not wait for the rest.
if (process.argv[2] === 'mcp-shim') void import('../dist/mcp-shim.js');
else void start(require('node:path').join(__dirname, '..', 'dist', 'cli.cjs')).main(process.argv);

/** `process.getBuiltinModule`, on which the program relies, came with Node 20.16 and 22.3. */
function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  return major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 3);
}

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
