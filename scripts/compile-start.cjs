// node compile-start.cjs CLI WORD...: starts the switchboard as bin/load.js does, and when a turn is over, puts the code that V8 made of it beside it.
const { writeFileSync } = require('node:fs');
const load = require('../bin/load.js');

const [file, ...words] = process.argv.slice(2);
const start = load(file);
void start.exports.main([process.argv[0], file, ...words]);

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (bytes, ...more) => {
  // A moment later, so that the records of it are in it too; then the end of our input, as when an editor goes.
  if (String(bytes).includes('"stopReason"'))
    setTimeout(() => {
      writeFileSync(start.cache, start.script.createCachedData());
      process.stdin.destroy();
    }, 300);
  return write(bytes, ...more);
};
