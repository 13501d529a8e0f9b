// The built command in a process that stays: told over IPC what to run next, with which environment and where.
// It is the same code from its entry on; only the start of Node and the loading of modules are shared by many runs.
const { main } = require('../../dist/cli.cjs');

const SCRIPT = require.resolve('../../bin/switchboard.js');
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
process.setMaxListeners(0);
const leave = process.exit;
const LEFT = new Error('the command has ended');
process.on('disconnect', () => leave(0));

process.on('message', ({ args, env, cwd }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, SCRIPT, ...args];
  process.exitCode = undefined;
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    process[name].write = (text) => {
      said[name] += text;
      return true;
    };
  process.exit = (code) => {
    process.exit = () => {};
    process.send({ code: code ?? process.exitCode ?? 0, ...said });
    throw LEFT; // what stands behind it is not reached, as it would not be: else it ends a later command
  };
  main(process.argv).catch((error) => {
    if (error !== LEFT) throw error;
  });
});
