// `switchboard serve` on the command line; what it serves is tested in test/console.
import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHome, INITIALIZE } from './command.ts';

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129], // its terminal was closed
] as const)('it says where it is, with a link that works once, and nothing of it is left after %s', async (signal, expected) => {
  const home = createHome();
  const serving = home.start(['serve']);
  await serving.said('Press Ctrl-C to stop the console');
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

test('a port that is taken is said to be, and no agent is left', async () => {
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

test('a configuration that cannot be used ends it with every problem named', async () => {
  const home = createHome();
  const { code, stderr } = await home.run(['serve', '--config', home.write('bad.json', { agent_servers: {}, colour: 1 })]);
  expect(code).toBe(6);
  expect(stderr).toContain('"colour"');
});

test('a browser that cannot be started is no reason to end', async () => {
  const home = createHome();
  const serving = home.start(['serve', '--open'], { PATH: '' });
  await serving.said('Press Ctrl-C to stop the console');
  serving.child.kill('SIGINT');
  const { code, stderr } = await serving.ended;
  expect({ code, stderr }).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('could not start a browser; open the link yourself'),
  });
});

test('beside an editor: a port that is none ends it before anything is served, one that is taken does not', async () => {
  const { code, stderr } = await createHome().run(['acp', '--console', 'x']);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('invalid port "x"') });

  const other = net.createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const editor = createHome().start(['acp', '--console', String((other.address() as net.AddressInfo).port)]);
  expect(await editor.request('initialize', INITIALIZE)).toHaveProperty('result');
  editor.child.stdin.end();
  expect(await editor.ended).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/the console could not start: cannot listen on .*: it is in use/),
  });
});
