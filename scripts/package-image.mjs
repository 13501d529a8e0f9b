// `npm run package:image`: a container image without a container engine, in release/image (an OCI image layout): the single executable and the
// libraries that it is linked with, nothing else. Then runs its root file system, read-only and as the image's user (bubblewrap), and asks the
// health check. `skopeo copy oci:release/image:VERSION docker://REGISTRY/NAME:VERSION` publishes it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const project = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const executable = path.join(project, 'release', 'switchboard');
const image = path.join(project, 'release', 'image');
const { version } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const USER = 65532;
const PORT = 7420;
const HEALTH = `fetch('http://127.0.0.1:${PORT}/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;
const LIMIT_MS = 60_000;
const CONFIG = {
  User: `${USER}:${USER}`,
  Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/state', 'SWITCHBOARD_HOME=/state'],
  Entrypoint: ['/usr/local/bin/switchboard'],
  // Another program ends TLS in front of a container.
  Cmd: ['serve', '--listen', `0.0.0.0:${PORT}`, '--behind-tls-proxy', '--no-console', '--drain-seconds', '20'],
  ExposedPorts: { [`${PORT}/tcp`]: {} },
  Volumes: { '/state': {} },
  WorkingDir: '/state',
  StopSignal: 'SIGTERM',
  Healthcheck: { Test: ['CMD', '/usr/local/bin/switchboard', '-e', HEALTH], Interval: 30e9, Timeout: 5e9, StartPeriod: 10e9, Retries: 3 },
  Labels: { 'org.opencontainers.image.title': 'acp-switchboard', 'org.opencontainers.image.version': version },
};

function makeRoot(root) {
  for (const folder of ['dev', 'proc', 'tmp', 'state', 'etc', 'usr/local/bin']) mkdirSync(path.join(root, folder), { recursive: true });
  cpSync(executable, path.join(root, 'usr', 'local', 'bin', 'switchboard'));
  for (const [library] of execFileSync('ldd', [executable], { encoding: 'utf8' }).matchAll(/\/\S+/g))
    cpSync(library, path.join(root, library), { dereference: true });
  writeFileSync(path.join(root, 'etc', 'passwd'), `root:x:0:0::/:/\nswitchboard:x:${USER}:${USER}::/state:/\n`);
  writeFileSync(path.join(root, 'etc', 'group'), `root:x:0:\nswitchboard:x:${USER}:\n`);
}

/** The same input gives the same bytes. The state belongs to the image's user, all else to root. */
function packRoot(root, scratch) {
  const tar = path.join(scratch, 'layer.tar');
  const fixed = ['--sort=name', '--mtime=@0', '--numeric-owner', '--format=gnu'];
  execFileSync('tar', [...fixed, '--owner=0', '--group=0', '--exclude=./state', '--exclude=./tmp', '-cf', tar, '-C', root, '.']);
  execFileSync('tar', [...fixed, `--owner=${USER}`, `--group=${USER}`, '--mode=0700', '-rf', tar, '-C', root, './state']);
  execFileSync('tar', [...fixed, '--owner=0', '--group=0', '--mode=1777', '-rf', tar, '-C', root, './tmp']);
  return readFileSync(tar);
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

function writeImage(layer) {
  rmSync(image, { recursive: true, force: true });
  const blobs = path.join(image, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const blob = (mediaType, bytes) => {
    const digest = digestOf(bytes);
    writeFileSync(path.join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const json = (mediaType, value) => blob(mediaType, Buffer.from(JSON.stringify(value)));
  const kind = (name) => `application/vnd.oci.image.${name}`;
  const config = json(kind('config.v1+json'), {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: CONFIG,
    rootfs: { type: 'layers', diff_ids: [`sha256:${digestOf(layer)}`] },
    history: [{ created_by: 'npm run package:image' }],
  });
  const layers = [blob(kind('layer.v1.tar+gzip'), gzipSync(layer))];
  const manifest = json(kind('manifest.v1+json'), { schemaVersion: 2, mediaType: kind('manifest.v1+json'), config, layers });
  const annotations = { 'org.opencontainers.image.ref.name': version };
  writeFileSync(path.join(image, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(path.join(image, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }));
}

/** Reads the image back by its digests, and unpacks the layer. */
function unpackImage(root) {
  const blob = ({ digest }) => {
    const [, hash] = digest.split(':');
    const bytes = readFileSync(path.join(image, 'blobs', 'sha256', hash));
    if (digestOf(bytes) !== hash) throw new Error(`the blob ${hash} has other bytes`);
    return bytes;
  };
  const [manifest] = JSON.parse(readFileSync(path.join(image, 'index.json'), 'utf8')).manifests;
  const { config, layers } = JSON.parse(blob(manifest));
  mkdirSync(root);
  for (const layer of layers) execFileSync('tar', ['-xzf', '-', '-C', root, '--no-same-owner'], { input: blob(layer) });
  return JSON.parse(blob(config)).config;
}

/** Runs the unpacked root as an engine does: the image's user, environment and command, a read-only root, a volume for the state. */
async function tryImage(scratch) {
  const root = path.join(scratch, 'unpacked');
  const { Env, Entrypoint, Cmd, Healthcheck } = unpackImage(root);
  const state = path.join(scratch, 'state');
  mkdirSync(state);
  const user = ['--unshare-user', '--uid', String(USER), '--gid', String(USER), '--unshare-pid', '--die-with-parent', '--clearenv'];
  const disk = [
    '--ro-bind',
    root,
    '/',
    '--bind',
    state,
    '/state',
    '--tmpfs',
    '/tmp',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--chdir',
    '/state',
  ];
  const variables = Env.flatMap((one) => ['--setenv', one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]);
  const inside = (...words) => ['bwrap', [...user, ...disk, ...variables, '--', ...words]];
  const once = (...words) => spawnSync(...inside(...words), { encoding: 'utf8', timeout: LIMIT_MS, input: '' });

  const facts = once(
    ...Entrypoint,
    '-e',
    "let why; try { require('node:fs').writeFileSync('/file', '') } catch (error) { why = error.code } console.log(process.getuid(), why)",
  );
  if (facts.stdout.trim() !== `${USER} EROFS`)
    throw new Error(`the user and the root are not as they must be: ${facts.stdout}${facts.stderr}`);
  const turn = once(...Entrypoint, 'run', '-o', 'simple', 'hello');
  if (!turn.stdout.includes('You said')) throw new Error(`a turn says: ${turn.stdout}${turn.stderr}`);
  const isHealthy = () => once(...Healthcheck.Test.slice(1)).status === 0;
  if (isHealthy()) throw new Error(`another program answers on port ${PORT}`);
  const daemon = spawn(...inside(...Entrypoint, ...Cmd, '--json'), { stdio: ['ignore', 'pipe', 'inherit'] });
  const timer = setTimeout(() => daemon.kill('SIGKILL'), LIMIT_MS);
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  try {
    const { value } = await readline.createInterface({ input: daemon.stdout })[Symbol.asyncIterator]().next();
    if (!isHealthy()) throw new Error(`the health check fails; the daemon says: ${value}`);
  } finally {
    daemon.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'switchboard-image-'));
try {
  if (!existsSync(executable)) throw new Error(`${executable} is missing: npm run package:binary`);
  const root = path.join(scratch, 'root');
  makeRoot(root);
  writeImage(packRoot(root, scratch));
  console.log(`release/image: acp-switchboard ${version}, an OCI image layout`);
  await tryImage(scratch);
  console.log(`ok   as user ${USER}, with a read-only root: a turn, the daemon, its health check`);
} catch (error) {
  console.error(`package:image: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
