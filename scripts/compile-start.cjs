// node compile-start.cjs CLI WORD...: starts the switchboard as bin/load.js does, and when it has said something, puts the code that V8 made of it beside it.
const { writeFileSync } = require('node:fs');
const load = require('../bin/load.js');

const [file, ...words] = process.argv.slice(2);
const start = load(file);
void start.exports.main([process.argv[0], file, ...words]);

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (...args) => {
  // A moment later, so that what follows the answer is in it too; then the end of our input, as when an editor goes.
  setTimeout(() => {
    writeFileSync(`${file}.cache`, start.script.createCachedData());
    process.stdin.destroy();
  }, 150);
  return write(...args);
};
