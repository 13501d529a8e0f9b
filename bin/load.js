// Loads the start as `require` would, but with the code that V8 made of it when it was built: to compile it anew is a third of a start.
// The code is for one version of Node on one kind of machine, and its name says which: V8 takes what another Node with the same V8 has made for
// its own, and crashes. Where there is none, it is compiled as always.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');

/** The exports of `file`, its script, and where the code of this very Node belongs. A later `require` gets the same. */
module.exports = function load(file) {
  const { script, start } = made(file);
  const loaded = new Module(file, module);
  loaded.filename = file;
  loaded.paths = module.paths;
  // Code that was made before has no way of its own to import anything.
  loaded.onNeed = (name) => import(pathToFileURL(path.join(path.dirname(file), name)).href);
  require.cache[file] = loaded;
  start(loaded.exports, Module.createRequire(file), loaded, file, path.dirname(file));
  loaded.loaded = true;
  return { exports: loaded.exports, script, cache: cacheOf(file) };
};

/** What was built is a function, and says nothing yet. What is there may also be of another version than this, when only sources were renewed. */
function made(file) {
  try {
    const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData: cached(file) });
    const start = script.runInThisContext();
    if (typeof start !== 'function') throw new Error('it is no function');
    return { script, start };
  } catch (cause) {
    const words = `${file} is not what belongs to this program (${cause.message}): build it anew (npm run build), or install it again`;
    throw Object.assign(new Error(words, { cause }), { code: 'NOT_BUILT' });
  }
}

/** Where the code of this very Node is. */
const cacheOf = (file) => `${file}.${process.version}-${process.platform}-${process.arch}.cache`;

function cached(file) {
  try {
    return readFileSync(cacheOf(file));
  } catch {
    return undefined;
  }
}
