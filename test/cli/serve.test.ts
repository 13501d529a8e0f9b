// `switchboard serve` on the command line. test/console tests what it serves.
import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHome, INITIALIZE } from './command.ts';

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129], // the terminal was closed
] as const)('it prints a link that works once, and leaves no process behind after %s', async (signal, expected) => {
  const home = createHome();
  const serving = home.start(['serve']);
  await serving.printed('Press Ctrl-C to stop the console');
  serving.child.kill(signal);
  const { code, stdout, stderr } = await serving.ended;
  expect(code).toBe(expected);
  expect(stdout).toMatch(/^The console is at\n\n {2}http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}\n/);
  expect(stderr).toBe(
    'switchboard: no configuration found; using the built-in demo agents. To create a configuration, run: switchboard init\n',
  );
  expect(home.processesLeft()).toEqual([]);
});

test.each(['x', '65536', '-1', '1.5', ''])('--port=%s is not a port', async (port) => {
  const { code, stderr } = await createHome().run(['serve', `--port=${port}`]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`invalid port "${port}"`) });
});

test('a port in use is reported, and no agent is left running', async () => {
  const other = net.createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as net.AddressInfo;
  const home = createHome();
  const { code, stdout, stderr } = await home.run(['serve', '--port', String(port)]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: it is in use`);
  expect(stderr).toContain('choose another port');
  expect(home.processesLeft()).toEqual([]);
});

test('an invalid configuration stops it, and the error names the problem', async () => {
  const home = createHome();
  const { code, stderr } = await home.run(['serve', '--config', home.write('bad.json', { agent_servers: {}, colour: 1 })]);
  expect(code).toBe(6);
  expect(stderr).toContain('"colour"');
});

test('it continues if no browser can be started', async () => {
  const home = createHome();
  const serving = home.start(['serve', '--open'], { PATH: '' });
  await serving.printed('Press Ctrl-C to stop the console');
  serving.child.kill('SIGINT');
  const { code, stderr } = await serving.ended;
  expect({ code, stderr }).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('could not start a browser; open the link yourself'),
  });
});

test('acp --console with an invalid port exits before it serves anything; with a port in use it serves without the console', async () => {
  const { code, stderr } = await createHome().run(['acp', '--console', 'x']);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('invalid port "x"') });

  const other = net.createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const client = createHome().start(['acp', '--console', String((other.address() as net.AddressInfo).port)]);
  expect(await client.request('initialize', INITIALIZE)).toHaveProperty('result');
  client.child.stdin.end();
  expect(await client.ended).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/the console could not start: cannot listen on .*: it is in use/),
  });
});
