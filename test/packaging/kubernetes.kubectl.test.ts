// The Kubernetes base, as kustomize renders it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { SWITCHBOARD } from '../e2e/harness.ts';
import { claim, deployment } from './kubernetes-schemas.ts';

const KUBERNETES = path.resolve(import.meta.dirname, '../../config/kubernetes');
const render = (dir: string) =>
  parseAllDocuments(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8' })).map((one) => one.toJS());

test('kustomize renders the base with its configuration and the image of the version', () => {
  const rendered = render(path.join(KUBERNETES, 'base'));
  const byKind = Object.fromEntries(rendered.map((one) => [one.kind, one]));
  expect(Object.keys(byKind).sort()).toEqual(['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Service']);
  const { containers, volumes } = byKind.Deployment.spec.template.spec;
  expect(containers[0].image).toMatch(/^acp-switchboard:\d+\.\d+\.\d+$/);
  expect(volumes).toContainEqual({ name: 'config', configMap: { name: byKind.ConfigMap.metadata.name } });
  expect(byKind.ConfigMap.data['switchboard.jsonc']).toContain('agent_servers');
});

test('with the files of bus init, kustomize renders an edge, a host and a collector, each with its own key and a command that exists', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-kubernetes-'));
  try {
    cpSync(KUBERNETES, dir, { recursive: true });
    const bus = path.join(dir, 'bus/switchboard-bus');
    const init = ['bus', 'init', bus, '--server', 'nats.example', '--host', 'host-1', '--edge', 'switchboard'];
    execFileSync(process.execPath, [SWITCHBOARD, ...init], { stdio: 'ignore', env: { ...process.env, SWITCHBOARD_HOME: dir } });
    const rendered = render(path.join(dir, 'bus'));
    const ofKind = (kind: string) => rendered.filter((one) => one.kind === kind);
    for (const one of ofKind('PersistentVolumeClaim')) expect(claim.safeParse(one).error).toBeUndefined();
    const maps = ofKind('ConfigMap').map(({ metadata }) => metadata.name);
    const members = ofKind('Deployment').map((one) => {
      const { data, error } = deployment.safeParse(one);
      expect(error).toBeUndefined();
      const { containers = [], volumes = [] } = data?.spec.template.spec ?? {};
      const [{ args = [], volumeMounts = [], image = '' } = {}] = containers;
      expect(image).toBe('acp-switchboard:0.2.0');
      expect(volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.map(({ name }) => name).sort());
      for (const volume of volumes) if ('configMap' in volume) expect(maps).toContain(volume.configMap.name);
      const help = execFileSync(process.execPath, [SWITCHBOARD, ...args.slice(0, args.indexOf('--bus')), '--help'], { encoding: 'utf8' });
      for (const option of args.filter((arg) => arg.startsWith('--'))) expect(help).toContain(`${option} `);
      const named = volumes.flatMap((volume) => ('secret' in volume ? [volume.secret.secretName] : []));
      const [secret, ...others] = ofKind('Secret').filter(({ metadata }) => named.includes(metadata.name));
      expect(others).toEqual([]);
      expect(Object.keys(secret.data).sort()).toEqual(['bus.json', 'bus.nk', 'ca.pem']);
      const text = (key: string) => Buffer.from(secret.data[key], 'base64').toString();
      const { name } = JSON.parse(text('bus.json'));
      return [one.metadata.name, name, text('bus.nk')];
    });
    const key = (member: string) => readFileSync(path.join(bus, 'tenants/default', member, 'bus.nk'), 'utf8');
    expect(members.sort()).toEqual([
      ['switchboard', 'switchboard', key('edge-switchboard')],
      ['switchboard-control', 'control', key('control')],
      ['switchboard-host', 'host-1', key('host-host-1')],
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
