// The built command in a process that stays alive: IPC messages say what to run next, in which environment and directory.
// It runs the same code from the entry on. Only starting Node and loading modules are shared.
const { main } = require('../../dist/cli.cjs');

const SCRIPT = require.resolve('../../bin/switchboard.js');
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
process.setMaxListeners(0);
const realExit = process.exit;
const EXITED = new Error('the command has ended');
process.on('disconnect', () => realExit(0));

process.on('message', ({ args, env, cwd }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, SCRIPT, ...args];
  process.exitCode = undefined;
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    process[name].write = (text) => {
      output[name] += text;
      return true;
    };
  process.exit = (code) => {
    process.exit = () => {};
    process.send({ code: code ?? process.exitCode ?? 0, ...output });
    throw EXITED; // as after a real exit, nothing more runs: it could end a later command
  };
  main(process.argv).catch((error) => {
    if (error !== EXITED) throw error;
  });
});
