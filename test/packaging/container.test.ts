// The Dockerfile's rules, and the Kubernetes base against a small schema that knows every field used.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { claim, deployment, labels, metadata, port } from './kubernetes-schemas.ts';

const config = path.resolve(import.meta.dirname, '../../config');
const base = path.join(config, 'kubernetes', 'base');
const read = (name: string) => parse(readFileSync(path.join(base, name), 'utf8'));

/** Instructions with their arguments; continued lines are joined. */
const instructions = readFileSync(path.join(config, 'container', 'Dockerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^([A-Z]+) +(.*)$/.exec(line)?.slice(1) ?? [line, '']);
const argumentsOf = (name: string) => instructions.filter(([one]) => one === name).map(([, rest = '']) => rest);

test('the Dockerfile pins its base, ends as a user without rights, and asks for health', () => {
  const known = 'FROM COPY RUN ENV USER WORKDIR VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(' ');
  expect(instructions.filter(([name = '']) => !known.includes(name))).toEqual([]);
  expect(argumentsOf('FROM')).toEqual([expect.stringMatching(/^[\w./-]+:[\w.-]+$/)]);
  expect(argumentsOf('FROM')[0]).not.toMatch(/:latest$/);
  expect(argumentsOf('USER')).toEqual(['65532:65532']);
  for (const run of argumentsOf('RUN')) expect(run).not.toMatch(/\b(?:sudo|curl|wget|cd) /);
  for (const name of ['ENTRYPOINT', 'CMD', 'VOLUME']) expect(JSON.parse(argumentsOf(name)[0] ?? '')).toBeInstanceOf(Array);
  const [, command = ''] = (argumentsOf('HEALTHCHECK')[0] ?? '').split(' CMD ');
  expect(JSON.parse(command)).toHaveLength(3);
});

const SCHEMAS = {
  'daemon.yaml': deployment,
  'service.yaml': z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Service'),
    metadata,
    spec: z.strictObject({
      selector: labels,
      ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: port })),
    }),
  }),
  'state.yaml': claim,
  'kustomization.yaml': z.strictObject({
    apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
    kind: z.literal('Kustomization'),
    resources: z.array(z.string()),
    configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
    images: z.array(z.strictObject({ name: z.string(), newTag: z.string() })),
  }),
};

test.each(Object.entries(SCHEMAS))('%s has the form that Kubernetes expects', (name, schema) => {
  const { error } = schema.safeParse(read(name));
  expect(error).toBeUndefined();
});

test('the parts of the base refer to each other', () => {
  const files = readdirSync(base);
  const { resources, configMapGenerator, images } = SCHEMAS['kustomization.yaml'].parse(read('kustomization.yaml'));
  const [{ name: map = '', files: inMap = [] } = {}] = configMapGenerator;
  expect(files.sort()).toEqual([...resources, ...inMap, 'kustomization.yaml'].sort());
  const { metadata: own, spec } = SCHEMAS['daemon.yaml'].parse(read('daemon.yaml'));
  const { containers, volumes } = spec.template.spec;
  const [daemon] = containers;
  expect(images.map(({ name }) => name)).toEqual([daemon.image]);
  expect(daemon.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
  expect(JSON.stringify(volumes)).toContain(`"claimName":"${read('state.yaml').metadata.name}"`);
  expect(JSON.stringify(volumes)).toContain(`"configMap":{"name":"${map}"}`);
  const ports = daemon.ports?.map(({ name }) => name);
  for (const probe of [daemon.startupProbe, daemon.livenessProbe, daemon.readinessProbe]) expect(ports).toContain(probe?.httpGet.port);
  expect(ports).toContain(read('service.yaml').spec.ports[0].targetPort);
  for (const labelled of [spec.selector.matchLabels, spec.template.metadata.labels, read('service.yaml').spec.selector])
    expect(labelled).toEqual(own.labels);
});
