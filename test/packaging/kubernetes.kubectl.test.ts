// The Kubernetes base, as kustomize renders it.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

test('kustomize renders the base with its configuration and the image of the version', () => {
  const base = path.resolve(import.meta.dirname, '../../config/kubernetes/base');
  const rendered = parseAllDocuments(execFileSync('kubectl', ['kustomize', base], { encoding: 'utf8' })).map((one) => one.toJS());
  const byKind = Object.fromEntries(rendered.map((one) => [one.kind, one]));
  expect(Object.keys(byKind).sort()).toEqual(['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Service']);
  const { containers, volumes } = byKind.Deployment.spec.template.spec;
  expect(containers[0].image).toMatch(/^acp-switchboard:\d+\.\d+\.\d+$/);
  expect(volumes).toContainEqual({ name: 'config', configMap: { name: byKind.ConfigMap.metadata.name } });
  expect(byKind.ConfigMap.data['switchboard.jsonc']).toContain('agent_servers');
});
