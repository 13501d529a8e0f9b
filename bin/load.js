// Loads the start as `require` would, but with the code that V8 made of it when it was built: to compile it anew is a third of a start.
// V8 refuses what another version has made, or one with other flags; then, and where there is none, it is compiled as always.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

/** The exports of `file`, and its script. Whoever asks for it later by `require` gets the same. */
module.exports = function load(file) {
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData: cached(file) });
  const loaded = new Module(file, module);
  loaded.filename = file;
  loaded.paths = module.paths;
  // Code that was made before has no way of its own to import anything.
  loaded.onNeed = (name) => import(pathToFileURL(path.join(path.dirname(file), name)).href);
  require.cache[file] = loaded;
  script.runInThisContext()(loaded.exports, Module.createRequire(file), loaded, file, path.dirname(file));
  loaded.loaded = true;
  return { exports: loaded.exports, script };
};

function cached(file) {
  try {
    return readFileSync(`${file}.cache`);
  } catch {
    return undefined;
  }
}
